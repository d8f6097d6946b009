#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "cli/analysis_options.h"
#include "cli/budget_option.h"
#include "cli/command.h"
#include "cli/terminal.h"
#include "kcharter/report/document_folder.h"
#include "kcharter/report/html_page.h"
#include "kcharter/report/peak_table.h"
#include "kcharter/report/summary_formats.h"

namespace kcharter {
namespace {

struct AnalyzeCommand {
  std::vector<std::string> models;
  AnalysisOptions analysis;
  std::string device;
  std::string output = "generated";
  std::string html;
  std::string format = "table";
  std::optional<int64_t> prompt;
  std::optional<int64_t> output_tokens;
  std::optional<double> price;
  bool strict = false;
  bool peak = false;
  std::vector<std::string> budgets;
};

bool writes_to_standard_output(const AnalyzeCommand& command) { return command.output == "-"; }

// What can be said before any model is looked at.
void check(const AnalyzeCommand& command) {
  if (command.models.size() > 1 && !command.analysis.name.empty()) {
    throw UsageError("--name names one model, but " + std::to_string(command.models.size()) +
                     " are given");
  }
  if (command.models.size() > 1 && writes_to_standard_output(command)) {
    throw UsageError("`-o -` writes one document, but " + std::to_string(command.models.size()) +
                     " models are given");
  }
}

void print_document(const std::vector<Document>& documents) {
  if (documents.size() != 1) {
    throw UsageError(
        "`-o -` writes one document, and this model has one for prefill and one for "
        "decode: choose with --mode");
  }
  std::cout << to_json(documents.front());
}

// Writes the documents of one model under a name that is theirs, which they then carry.
void write_documents(const AnalyzeCommand& command, const std::string& source,
                     DocumentFolder& folder, std::vector<Document>& documents,
                     std::vector<NamedDocument>* written) {
  std::string name;
  for (Document& document : documents) {
    if (!name.empty()) document.model.name = name;
    std::string json = to_json(document);
    if (name.empty()) {
      name = folder.choose_name(document.model.name, source, json);
      if (!command.analysis.name.empty() && name != file_safe_name(command.analysis.name)) {
        throw UsageError(folder.folder().string() + " holds another model called '" +
                         command.analysis.name +
                         "': choose another --name, or another folder (-o)");
      }
      if (name != document.model.name) {
        document.model.name = name;
        json = to_json(document);
      }
    }
    const std::string_view mode = kcharter::name(document.model.mode);
    folder.write(name, mode, source, json);
    written->push_back({folder.path_of(name, mode).filename().string(), std::move(json)});
  }
}

void note_unknowns(const AnalyzeCommand& command, const std::vector<Document>& documents,
                   Outcome& outcome) {
  if (!command.strict) return;
  for (const Document& document : documents) {
    if (const int count = incomplete_metrics(document); count > 0) {
      complain(document.model.name + " (" + std::string(name(document.model.mode)) +
               "): " + std::to_string(count) + " metrics are not complete (--strict)");
      outcome.incomplete = true;
    }
  }
}

void print_summaries(SummaryFormat format, const std::vector<Document>& documents,
                     const OnDevice& asked) {
  switch (format) {
    case SummaryFormat::kTable:
      std::cout << summary_table(documents, terminal_width(), asked);
      break;
    case SummaryFormat::kMarkdown:
      std::cout << summary_markdown(documents);
      break;
    default:
      break;  // csv and json are one table for the whole call
  }
}

void print_joint_summary(SummaryFormat format, const std::vector<Document>& documents,
                         const OnDevice& asked) {
  if (format == SummaryFormat::kCsv) std::cout << summary_csv(documents);
  if (format == SummaryFormat::kJson) std::cout << summary_json(documents, asked);
}

// `chosen` outlives what is returned.
OnDevice asked_of(const AnalyzeCommand& command, const std::optional<Device>& chosen) {
  OnDevice asked;
  if (chosen) asked.device = &*chosen;
  asked.price_per_hour = command.price;
  const bool wants_generation = command.prompt || command.output_tokens || command.price;
  if (!wants_generation) return asked;
  if (!chosen) throw UsageError("--prompt, --output-tokens and --price need a --device");
  if (command.analysis.mode != "both") {
    throw UsageError("--prompt, --output-tokens and --price need both modes, not --mode " +
                     command.analysis.mode);
  }
  if (command.price && !(*command.price >= 0)) throw UsageError("--price is negative");
  asked.request = Request{command.prompt.value_or(command.analysis.workload.current_length),
                          command.output_tokens.value_or(256)};
  const auto check = [](const char* option, int64_t value) {
    if (value >= 1 && value <= kMostTokens) return;
    throw UsageError(std::string(option) + " is " + std::to_string(value) + ", not 1 to " +
                     std::to_string(kMostTokens));
  };
  check("--prompt", asked.request->prompt);
  check("--output-tokens", asked.request->tokens);
  return asked;
}

void analyze_all(AnalyzeCommand command, Outcome& outcome) {
  command.models = with_pipeline_parts(command.models);
  check(command);
  const AnalyzeOptions options = to_analyze_options(command.analysis);
  const SummaryFormat format = *parse_summary_format(command.format);
  const bool is_joint = format == SummaryFormat::kCsv || format == SummaryFormat::kJson;
  const std::vector<Budget> budgets = read_budgets(command.budgets);
  std::optional<Device> chosen;
  if (!command.device.empty()) chosen = read_device(command.device);
  const OnDevice asked = asked_of(command, chosen);
  std::optional<DocumentFolder> folder;
  if (!writes_to_standard_output(command)) folder.emplace(command.output);
  std::vector<NamedDocument> written;
  std::vector<Document> joint;
  for (const std::string& model : command.models) {
    attempt(outcome, [&] {
      std::vector<Document> documents = analyze_model(model, options);
      note_unknowns(command, documents, outcome);
      check_budgets(budgets, documents, asked.device, outcome);
      if (!folder) {
        print_document(documents);
        if (!command.html.empty()) {
          written.push_back(
              {documents[0].model.name + "." + std::string(name(documents[0].model.mode)) + ".json",
               to_json(documents[0])});
        }
        return;
      }
      write_documents(command, model, *folder, documents, &written);
      print_summaries(format, documents, asked);
      if (command.peak && format == SummaryFormat::kTable) {
        std::cout << peak_table(documents, terminal_width());
      }
      if (!is_joint) return;
      for (Document& document : documents) joint.push_back(std::move(document));
    });
  }
  if (folder && is_joint) print_joint_summary(format, joint, asked);
  if (!command.html.empty() && !written.empty()) {
    write_whole(command.html, html_page(written));
  }
}

}  // namespace

void add_analyze_command(CLI::App& program, Outcome& outcome) {
  CLI::App* app = program.add_subcommand("analyze", "Chart models: a document per model and mode");
  auto command = std::make_shared<AnalyzeCommand>();
  app->add_option("MODEL", command->models,
                  "file.onnx, the folder of a checkpoint, file.safetensors, "
                  "*.safetensors.index.json or config.json")
      ->required()
      ->type_name("");
  add_analysis_options(*app, command->analysis);
  app->add_option("--device", command->device, "Device for times and fit (see `kcharter devices`)")
      ->type_name("NAME");
  app->add_option("--prompt", command->prompt,
                  "Time of an answer on the device: tokens of the prompt, default --seq")
      ->type_name("N");
  app->add_option("--output-tokens", command->output_tokens,
                  "Tokens of the answer, default 256 where a prompt or a price is given")
      ->type_name("N");
  app->add_option("--price", command->price,
                  "Of an hour of the device, in any currency: what a sequence costs")
      ->type_name("AMOUNT");
  app->add_option("-o,--output", command->output,
                  "Folder for the documents, default generated; - writes one to standard output")
      ->type_name("DIR");
  app->add_option("--html", command->html,
                  "Also write one page that holds every document of the call")
      ->type_name("FILE");
  app->add_option("--format", command->format, "table, markdown, csv, json or none; default table")
      ->check(CLI::IsMember({"table", "markdown", "csv", "json", "none"}))
      ->type_name("FORMAT");
  app->add_flag("--peak", command->peak,
                "Show the values alive at the activation peak below the table");
  app->add_flag("--strict", command->strict, "Exit with 3 if anything stayed unknown");
  add_budget_option(*app, command->budgets);
  app->footer(
      "Examples:\n"
      "  kcharter analyze model.onnx --mode decode --batch 4 --seq 8192 --max-seq 131072\n"
      "  kcharter analyze Llama-3-8B/ --kv-dtype fp8 --html llama.html\n"
      "  kcharter analyze vit.onnx --dim height=384 --format json -o charts");
  app->callback([command, &outcome] { attempt(outcome, [&] { analyze_all(*command, outcome); }); });
}

}  // namespace kcharter
