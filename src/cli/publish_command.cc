#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/analysis_options.h"
#include "cli/command.h"
#include "kcharter/base/mapped_file.h"
#include "kcharter/report/site.h"
#include "kcharter/report/validate.h"

namespace kcharter {
namespace {

struct PublishCommand {
  std::string site;
  std::vector<std::string> sources;
  AnalysisOptions analysis;
};

// The text of `path` where it is a document; nullopt: a model, or nothing that can be read.
std::optional<std::string> read_document(const std::filesystem::path& path) {
  std::error_code error;
  if (path.extension() != ".json" || !std::filesystem::is_regular_file(path, error)) {
    return std::nullopt;
  }
  const MappedFile file(path);
  const auto bytes = file.bytes();
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (!is_document(text)) return std::nullopt;
  return std::string(text);
}

void publish_document(Site& site, const std::string& path, const std::string& text) {
  const std::vector<std::string> problems = validate_document(text);
  if (!problems.empty()) {
    throw Error(path + ": is not a valid document: " + problems.front() +
                " (`kcharter validate` lists all)");
  }
  std::cout << site.add(text, {}) << '\n';
}

void publish_model(Site& site, const std::string& path, const AnalyzeOptions& options) {
  for (const Document& document : analyze_model(path, options)) {
    std::cout << site.add(to_json(document), path) << '\n';
  }
}

void publish_all(PublishCommand command, Outcome& outcome) {
  command.sources = with_pipeline_parts(command.sources);
  if (command.sources.size() > 1 && !command.analysis.name.empty()) {
    throw UsageError("--name names one model, but " + std::to_string(command.sources.size()) +
                     " are given");
  }
  AnalyzeOptions options = to_analyze_options(command.analysis);
  options.kv_block_variables = true;
  Site site(command.site);
  for (const std::string& source : command.sources) {
    attempt(outcome, [&] {
      if (const std::optional<std::string> document = read_document(source)) {
        publish_document(site, source, *document);
      } else {
        publish_model(site, source, options);
      }
    });
  }
  site.write_catalog();
}

}  // namespace

void add_publish_command(CLI::App& program, Outcome& outcome) {
  CLI::App* app = program.add_subcommand("publish", "Write a static site, or add to one");
  auto command = std::make_shared<PublishCommand>();
  app->add_option("SITE", command->site, "Folder of the site")->required()->type_name("");
  app->add_option("MODEL|DOCUMENT", command->sources,
                  "Models as `analyze` takes them, or documents it wrote; none: the viewer alone")
      ->type_name("");
  add_analysis_options(*app, command->analysis);
  app->footer(
      "Examples:\n"
      "  kcharter publish site model.onnx Qwen3-8B/ generated/llama.decode.json\n"
      "  python3 -m http.server -d site     or open site/index.html");
  app->callback([command, &outcome] { attempt(outcome, [&] { publish_all(*command, outcome); }); });
}

}  // namespace kcharter
