#include "kcharter/estimate/device.h"

#include <gtest/gtest.h>

#include "kcharter/base/error.h"

namespace kcharter {
namespace {

constexpr const char* kMinimal = R"({"schema": "kcharter.device", "id": "x", "name": "X",
  "memory": {"bytes": 1000, "usable_fraction": 0.75}, "bandwidth_bytes_per_second": 10,
  "dense_operations_per_second": {"f16": 5, "int8": 7}})";

TEST(Device, TableIsCompleteAndSorted) {
  const auto& table = device_table();
  ASSERT_GE(table.size(), 73u);
  for (size_t i = 1; i < table.size(); ++i) EXPECT_LT(table[i - 1].id, table[i].id);
  for (const Device& device : table) EXPECT_GT(device.bandwidth_bytes_per_second, 1e9) << device.id;
}

TEST(Device, H100HasDensePeaksAndDriverMemory) {
  const Device* device = find_device("h100-sxm");
  ASSERT_NE(device, nullptr);
  EXPECT_EQ(device->memory_bytes, 85520809984);
  EXPECT_EQ(peak_operations_per_second(*device, DType::kBF16), 989e12);
  EXPECT_EQ(peak_operations_per_second(*device, DType::kF4E2M1), 1979e12) << "fp4 runs as fp8";
  EXPECT_TRUE(device->calibrated);
}

TEST(Device, WithoutBf16UnitsF16ServesAndIntegersKeepTheirOwn) {
  const Device device = parse_device(kMinimal, "x.json");
  EXPECT_EQ(peak_operations_per_second(device, DType::kBF16), 5);
  EXPECT_EQ(peak_operations_per_second(device, DType::kInt4), 7);
  EXPECT_EQ(usable_memory_bytes(device), 750);
  EXPECT_FALSE(device.calibrated);
}

TEST(Device, WithoutMeasurementsTheClassSaysWhatIsReached) {
  const Device* device = find_device("rtx-4090");
  ASSERT_NE(device, nullptr);
  EXPECT_EQ(device->efficiency_class, "gddr");
  EXPECT_LT(device->band.low, 1);
  EXPECT_GT(device->band.high, 1);
  EXPECT_GT(efficiency_of(*device, "attention").memory, 0.5) << "a class has products alone";
  EXPECT_EQ(find_device("h100-sxm")->band.high, 1) << "measured";
  EXPECT_EQ(parse_device(kMinimal, "x.json").efficiency_class, "other");
  std::string strange = kMinimal;
  strange.insert(1, R"("efficiency_class": "ddr", )");
  EXPECT_THROW(parse_device(strange, "x.json"), Error);
}

TEST(Device, ErrorsNameFileAndMember) {
  try {
    parse_device(R"({"schema": "kcharter.device", "id": "x", "name": "X", "memory": {},
      "bandwidth_bytes_per_second": -1, "dense_operations_per_second": {}})", "mine.json");
    FAIL() << "a negative bandwidth was taken";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "mine.json: 'bandwidth_bytes_per_second' must be positive");
  }
  EXPECT_THROW(parse_device("{", "mine.json"), Error);
}

TEST(Device, AnUnknownIdNamesTheNearest) {
  try {
    load_device("h100");
    FAIL() << "h100 is not an id";
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("h100-sxm"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace kcharter
