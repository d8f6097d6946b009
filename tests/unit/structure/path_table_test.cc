#include "structure/path_table.h"

#include <gtest/gtest.h>

namespace kcharter {
namespace {

std::string path_of(const std::vector<std::string>& segments) {
  PathTable paths;
  return paths.text(resolve(paths, segments, true).path);
}

TEST(PathTable, ReadsSegmentsAsExportersWriteThem) {
  EXPECT_EQ(path_of({"model", "layers.0", "self_attn"}), "model.layers.0.self_attn");
  EXPECT_EQ(path_of({"", "model", "model.layers.1", "model.layers.1.mlp"}), "model.layers.1.mlp");
  EXPECT_EQ(path_of({"layer2", "layer2.1", "conv3"}), "layer2.1.conv3");
  EXPECT_EQ(path_of({"layers.0", "layers.0.0"}), "layers.0.0");
  EXPECT_EQ(path_of({"tf_bert", "layer_._11", "output"}), "tf_bert.layer_._11.output");
}

TEST(PathTable, BoundsTheDepth) {
  std::vector<std::string> segments(2000, "a");
  PathTable paths;
  EXPECT_LE(paths[resolve(paths, segments, true).path].depth, PathTable::kMaxDepth);
}

TEST(PathTable, FindsTheCommonAncestor) {
  PathTable paths;
  PathId q = resolve(paths, {"model", "layers.0", "attn", "q"}, true).path;
  PathId up = resolve(paths, {"model", "layers.0", "mlp"}, true).path;
  EXPECT_EQ(paths.text(paths.common_ancestor(q, up)), "model.layers.0");
  EXPECT_EQ(paths.common_ancestor(q, kRootPath), kRootPath);
}

}  // namespace
}  // namespace kcharter
