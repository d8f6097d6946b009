// Language models that an image or a sound is put into by a tower and a projector: Idefics 3,
// Voxtral, Qwen2-Audio, LLaVA in its first form, Llama 4.
#include "import/architecture/families/encoder_families.h"
#include "import/architecture/families/families.h"
#include "import/architecture/families/rotation_buffers.h"
#include "import/architecture/families/vision_families.h"
#include "kcharter/base/error.h"

namespace kcharter {
namespace {

// Whisper's encoder.
ValueId run_audio_tower(GraphBuilder& b, const ModelConfig& audio) {
  auto scope = b.scope("audio_tower");
  VisionSizes sizes = vision_sizes_of(audio, "gelu");
  int64_t rows = audio.integer("max_source_positions", 1500);
  ValueId x =
      read_sound(b, {sizes.hidden_size, audio.integer("num_mel_bins", 128), rows}, Expr(rows));
  Stack stack = vision_stack(sizes);
  stack.layer_list = "layers";
  for (Layer& layer : stack.layers) {
    Attention attention = *layer.mixer.target<Attention>();
    attention.key_bias = false;
    layer.mixer = attention;
    FeedForward feed_forward = *layer.feed_forward.target<FeedForward>();
    feed_forward.name.clear();
    layer.feed_forward = feed_forward;
    layer.mixer_norm = "self_attn_layer_norm";
    layer.feed_forward_norm = "final_layer_norm";
  }
  return normalize(b, build_layers(b, stack, x), "layer_norm", sizes.hidden_size, stack.norm);
}

void name_parts(Decoder& decoder) {
  decoder.model = "language_model.model";
  decoder.head = "language_model.lm_head";
}

// The tower of the configuration's own text model is not always given.
void note_missing_tower(GraphBuilder& builder, const char* section) {
  builder.diagnostics().add(
      Severity::kWarning, "tower-not-known", section,
      "the configuration does not describe the tower: the text alone is charted");
}

}  // namespace

void build_idefics3(GraphBuilder& builder, const ModelConfig& config) {
  ModelConfig text = config.section("text_config").with_defaults(config);
  Decoder decoder = decoder_of(text);
  decoder.model = "model.text_model";
  decoder.tied = config.flag("tie_word_embeddings", text.flag("tie_word_embeddings", false));
  ModelConfig vision =
      config.section("vision_config")
          .with_defaults(ModelConfig::parse(
              R"({"hidden_size": 1152, "intermediate_size": 3072, "num_hidden_layers": 12, "num_attention_heads": 16,
          "image_size": 224, "patch_size": 32, "layer_norm_eps": 1e-6})"));
  int64_t factor = config.integer("scale_factor", 2), joined = factor * factor;
  if (factor < 1 || factor > 64) throw Error("'scale_factor' is out of range");
  add_tower(builder, decoder, [&](GraphBuilder& b) {
    VisionSizes sizes = vision_sizes_of(vision, "gelu_pytorch_tanh");
    ValueId x;
    {
      auto scope = b.scope("model.vision_model");
      x = run_siglip_patches(b, vision, sizes);
    }
    auto connector = b.scope("model.connector.modality_projection");
    x = merge_neighbours(b, x, joined);
    return linear(b, x, {"proj", sizes.hidden_size * joined, decoder.hidden_size});
  });
  build(builder, decoder);
}

// Four frames of the tower become one token.
void build_voxtral(GraphBuilder& builder, const ModelConfig& config) {
  Decoder decoder = decoder_of(config.section("text_config"));
  name_parts(decoder);
  ModelConfig audio = config.section("audio_config");
  int64_t size = audio.require("hidden_size"), wide = audio.require("intermediate_size");
  if (size < 1 || wide % size != 0)
    throw Error("'intermediate_size' is no multiple of 'hidden_size'");
  add_tower(builder, decoder, [&](GraphBuilder& b) {
    ValueId x = merge_neighbours(b, run_audio_tower(b, audio), wide / size);
    auto projector = b.scope("multi_modal_projector");
    x = activate(b, linear(b, x, {"linear_1", wide, decoder.hidden_size}),
                 config.text("projector_hidden_act", "gelu"));
    return linear(b, x, {"linear_2", decoder.hidden_size, decoder.hidden_size});
  });
  build(builder, decoder);
}

// The tower's output is averaged two by two.
void build_qwen2_audio(GraphBuilder& builder, const ModelConfig& config) {
  ModelConfig text =
      config.section("text_config")
          .with_defaults(ModelConfig::parse(
              R"({"hidden_size": 4096, "intermediate_size": 22016, "num_hidden_layers": 32, "num_attention_heads": 32,
          "num_key_value_heads": 32, "vocab_size": 151936})"));
  Decoder decoder = decoder_of(text);
  name_parts(decoder);
  Attention attention = attention_of(text);
  attention.qkv_bias = true;
  use_in_all_layers(decoder, attention, feed_forward_of(text));
  ModelConfig audio =
      config.section("audio_config")
          .with_defaults(ModelConfig::parse(
              R"({"d_model": 1280, "hidden_size": 1280, "encoder_layers": 32, "num_hidden_layers": 32, "num_attention_heads": 20,
          "intermediate_size": 5120, "num_mel_bins": 128})"));
  add_tower(builder, decoder, [&](GraphBuilder& b) {
    ValueId x =
        b.ours("PoolNeighbours", {run_audio_tower(b, audio)}, {attribute("count", int64_t{2})});
    return linear(
        b, x,
        {"multi_modal_projector.linear", audio.require("hidden_size"), decoder.hidden_size, true});
  });
  build(builder, decoder);
}

// CLIP is another checkpoint, of which this one takes what it says.
void build_llava_llama(GraphBuilder& builder, const ModelConfig& config) {
  Decoder decoder = decoder_of(config);
  int64_t width = config.integer("mm_hidden_size", 1024), size = decoder.hidden_size;
  std::string kind = config.text("mm_projector_type", "linear");
  if (kind != "mlp2x_gelu" && kind != "linear")
    throw Error("projector '" + kind + "' is not known");
  constexpr int64_t kPatches = 576;  // of CLIP ViT-L/14 at 336 pixels
  add_tower(builder, decoder, [&](GraphBuilder& b) {
    ValueId x;
    if (!b.silent()) {
      Expr images = b.batch() * b.variable("image_count", "Images of a sequence", 1, 0);
      x = b.input("image_features", b.activation_dtype(), {images, Expr(kPatches), Expr(width)});
    }
    auto projector = b.scope("model.mm_projector");
    if (kind == "linear") return linear(b, x, {"", width, size, true});
    x = activate(b, linear(b, x, {"0", width, size, true}), "gelu");
    return linear(b, x, {"2", size, size, true});
  });
  build(builder, decoder);
  store_frequencies_of_old_llama(builder, config);
}

namespace {

// Patches are unfolded, joined four by four after the layers, and widened twice.
ValueId run_llama4_tower(GraphBuilder& b, const ModelConfig& config, int64_t text_size) {
  VisionSizes sizes = vision_sizes_of(config, "gelu");
  int64_t size = sizes.hidden_size, patch = config.integer("patch_size", 14),
          image = config.integer("image_size", 448);
  double ratio = config.number("pixel_shuffle_ratio", 0.5);
  int64_t joined = ratio > 0.01 ? static_cast<int64_t>(1 / (ratio * ratio) + 0.5) : 1;
  int64_t side = patch > 0 ? image / patch : 0,
          elements = config.integer("num_channels", 3) * patch * patch;
  int64_t inner = config.integer("projector_input_dim", 4096),
          out = config.integer("vision_output_dim", 4096);
  if (side < 1) throw Error("'patch_size' is larger than the image or below 1");
  ValueId x;
  if (!b.silent()) {
    Expr images = b.batch() * b.variable("image_count", "Images of a sequence", 1, 0);
    x = b.input("pixel_values", b.activation_dtype(), {images, Expr(side * side), Expr(elements)});
  }
  {
    auto scope = b.scope("vision_model");
    x = linear(b, x, {"patch_embedding.linear", elements, size});
    x = prepend_token(b, x, "class_embedding", {size});
    x = add_table(b, x, "positional_embedding_vlm", {side * side + 1, size});
    Stack stack = vision_stack(sizes);
    stack.layer_list = "model.layers";
    for (Layer& layer : stack.layers) {
      Attention attention = *layer.mixer.target<Attention>();
      attention.output = "o_proj";
      attention.rotary = true;
      layer.mixer = attention;
      layer.mixer_norm = "input_layernorm";
      layer.feed_forward_norm = "post_attention_layernorm";
    }
    x = normalize(b, x, "layernorm_pre", size, stack.norm);
    x = normalize(b, build_layers(b, stack, x), "layernorm_post", size, stack.norm);
    x = merge_neighbours(b, b.ours("PadTokens", {x}, {attribute("tokens", side * side)}), joined);
    auto adapter = b.scope("vision_adapter.mlp");
    x = activate(b, linear(b, x, {"fc1", size * joined, inner}), "gelu");
    x = activate(b, linear(b, x, {"fc2", inner, config.integer("projector_output_dim", out)}),
                 "gelu");
  }
  return linear(b, x, {"multi_modal_projector.linear_1", out, text_size});
}

}  // namespace

void build_llama4_multimodal(GraphBuilder& builder, const ModelConfig& config) {
  Decoder decoder = llama4_decoder(config.section("text_config"));
  name_parts(decoder);
  ModelConfig vision = config.section("vision_config");
  if (vision.empty()) {
    note_missing_tower(builder, "vision_config");
  } else {
    add_tower(builder, decoder,
              [&](GraphBuilder& b) { return run_llama4_tower(b, vision, decoder.hidden_size); });
  }
  build(builder, decoder);
}

}  // namespace kcharter
