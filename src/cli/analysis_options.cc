#include "cli/analysis_options.h"

#include "kcharter/import/pipeline_parts.h"

namespace kcharter {
namespace {

int64_t count_of(std::string_view option, const std::string& text) {
  try {
    return to_int64(parse_int(text));
  } catch (const Error& error) {
    throw UsageError(std::string(option) + ": " + error.what());
  }
}

// NAME=VALUE, the last "=" counting: a model's names may hold one.
std::pair<std::string, std::string> split_assignment(std::string_view option, const std::string& text,
                                                     std::string_view form) {
  const size_t equals = text.rfind('=');
  if (equals == std::string::npos || equals == 0) {
    throw UsageError(std::string(option) + ": '" + text + "' is not " + std::string(form));
  }
  return {text.substr(0, equals), text.substr(equals + 1)};
}

std::map<std::string, int64_t> read_dims(const std::vector<std::string>& texts) {
  std::map<std::string, int64_t> dims;
  for (const std::string& text : texts) {
    const auto [name, number] = split_assignment("--dim", text, "NAME=N");
    const int64_t value = count_of("--dim " + name, number);
    if (value < 0) throw UsageError("--dim: '" + text + "' is negative");
    dims[name] = value;
  }
  return dims;
}

std::optional<ElementFormat> read_format(std::string_view option, const std::string& text) {
  if (text.empty()) return std::nullopt;
  const std::optional<ElementFormat> format = parse_element_format(text);
  if (format) return format;
  throw UsageError(std::string(option) + ": '" + text +
                   "' is not a type; some are f32 bf16 f16 fp8 int8 int4 nvfp4 mxfp4 q8_0 q4_0");
}

WeightFormats read_weight_formats(const std::string& text) {
  if (text.empty()) return {};
  if (const auto formats = parse_weight_formats(text)) return *formats;
  throw UsageError("--weight-dtype: '" + text +
                   "' is not a type; some are f32 bf16 f16 fp8 int8 int4 nvfp4 mxfp4 q8_0 q4_0 "
                   "q4_k_m; fp8,lm_head=bf16 keeps a part apart");
}

std::optional<DType> read_activation_dtype(const std::string& text) {
  if (text.empty()) return std::nullopt;
  const std::optional<DType> dtype = parse_dtype(text == "fp8" ? "f8e4m3fn" : text);
  if (dtype && bits(*dtype) > 0) return dtype;
  throw UsageError("--activation-dtype: '" + text +
                   "' is not a type of single elements; some are f32 bf16 f16 fp8 int8");
}

std::optional<EngineRequest> read_engine(const AnalysisOptions& options) {
  if (options.engine.empty() && !options.engine_options.empty()) {
    throw UsageError("--engine-option " + options.engine_options.front() + " needs --engine");
  }
  if (options.engine.empty()) return std::nullopt;
  EngineRequest request{options.engine, {}, read_format("--kv-dtype", options.kv_dtype)};
  for (const std::string& text : options.engine_options) {
    auto [key, value] = split_assignment("--engine-option", text, "KEY=VALUE");
    request.options.insert_or_assign(std::move(key), std::move(value));
  }
  return request;
}

}  // namespace

void add_analysis_options(CLI::App& command, AnalysisOptions& options) {
  command
      .add_option("-m,--mode", options.mode,
                  "prefill, decode or both; default: both where the model can decode")
      ->check(CLI::IsMember({"prefill", "decode", "both"}))
      ->type_name("MODE");
  command
      .add_option("--batch", options.workload.batch, "Sequences at once (batch_size), default 1")
      ->type_name("N");
  command
      .add_option("--seq", options.workload.current_length,
                  "Tokens in each (current_length), default 1024")
      ->type_name("N");
  command
      .add_option("--max-seq", options.workload.max_length,
                  "Tokens the cache is sized for (max_length), default --seq")
      ->type_name("N");
  const auto add_size = [&](const char* name, int64_t& size, const char* what) {
    command.add_option(name, size, what)->type_name("N");
  };
  add_size("--tensor-parallel", options.workload.tensor_parallel,
           "Devices that share each layer's matrices (tensor_parallel_size), default 1");
  add_size("--pipeline-parallel", options.workload.pipeline_parallel,
           "Stages that the layers are spread over (pipeline_parallel_size), default 1");
  add_size("--expert-parallel", options.workload.expert_parallel,
           "Devices that the experts are spread over (expert_parallel_size), default 1");
  add_size("--data-parallel", options.workload.data_parallel,
           "Replicas that the batch is divided over (data_parallel_size), default 1");
  command
      .add_option("--dim", options.dims, "Size of another free dimension of a graph; repeatable")
      ->type_name("NAME=N")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command
      .add_option("--kv-dtype", options.kv_dtype,
                  "What if the cache were stored as T (bf16 fp8 q8_0 …)")
      ->type_name("T");
  command.add_option("--activation-dtype", options.activation_dtype, "What if activations were T")
      ->type_name("T");
  command
      .add_option("--weight-dtype", options.weight_dtype,
                  "What if weights were stored as T (int4 nvfp4 q4_k_m fp8,lm_head=bf16 …)")
      ->type_name("T[,MODULE=T]");
  command.add_flag("--kv-block-variables", options.kv_block_variables,
                   "Leave the cache's block to be turned: formulas over kv_block_elements and\n"
                   "kv_block_bytes; always so in `publish`");
  command
      .add_option("--engine", options.engine,
                  "Allocate the caches as vllm, sglang, llama.cpp, tensorrt-llm, transformers or mlx\n"
                  "does; default: what the data needs")
      ->type_name("NAME");
  command
      .add_option("--engine-option", options.engine_options,
                  "A setting of the engine, such as block_size=32; repeatable (docs/engines.md)")
      ->type_name("KEY=VALUE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command
      .add_option("--name", options.name, "Name of the model; default: its folder's or file's own")
      ->type_name("NAME");
  const auto add_policy = [&](const char* name, std::string& value, std::vector<std::string> choices,
                              const char* what) {
    command.add_option(name, value, what)
        ->check(CLI::IsMember(std::move(choices)))
        ->type_name("HOW");
  };
  add_policy("--attention", options.attention, {"fused", "written"},
             "Scores of attention, in the activation peak: fused or written; default fused");
  add_policy("--logits", options.logits, {"last", "all"},
             "Tokens of a checkpoint's prefill whose logits are computed: last or all; default last");
  add_policy("--dequantize", options.dequantize, {"fused", "written"},
             "Quantized weights, in the activation peak: fused or written; default fused");
  command
      .add_option("--prefill-chunk", options.workload.prefill_chunk,
                  "Tokens a checkpoint's prefill takes at once, in the activation peak; default all")
      ->type_name("N");
  command.add_flag("--as-exported", options.as_exported,
                   "Count nodes fed only by weights in each step, not once at load");
}

AnalyzeOptions to_analyze_options(const AnalysisOptions& options) {
  AnalyzeOptions result;
  if (options.mode == "prefill") result.import.mode = Mode::kPrefill;
  if (options.mode == "decode") result.import.mode = Mode::kDecode;
  result.import.dims = read_dims(options.dims);
  result.import.kv_format = read_format("--kv-dtype", options.kv_dtype);
  result.import.weight_formats = read_weight_formats(options.weight_dtype);
  result.import.activation_dtype = read_activation_dtype(options.activation_dtype);
  result.engine = read_engine(options);
  result.kv_block_variables = options.kv_block_variables;
  result.workload = options.workload;
  result.estimate.as_exported = options.as_exported;
  result.estimate.scores_written = options.attention == "written";
  result.estimate.weights_dequantized = options.dequantize == "written";
  result.all_logits = options.logits == "all";
  result.name = options.name;
  return result;
}

Device read_device(const std::string& name) {
  try {
    return load_device(name);
  } catch (const Error& error) {
    throw UsageError(std::string("--device: ") + error.what());
  }
}

std::vector<std::string> with_pipeline_parts(const std::vector<std::string>& paths) {
  std::vector<std::string> all;
  for (const std::string& path : paths) {
    for (const std::filesystem::path& part : pipeline_parts(path)) all.push_back(part.string());
  }
  return all;
}

std::vector<Document> analyze_model(const std::filesystem::path& path,
                                    const AnalyzeOptions& options) {
  const std::string context = path.string();
  const auto named = [&](Error& error) {
    // What failed on the file itself names it already.
    if (std::string_view(error.what()).find(context) == std::string_view::npos) error.in(context);
  };
  try {
    return analyze(path, options);
  } catch (UsageError& error) {
    named(error);
    throw;
  } catch (Error& error) {
    named(error);
    throw;
  }
}

}  // namespace kcharter
