#include "loss.h"

#include <algorithm>
#include <cmath>

#include <ns3/double.h>
#include <ns3/mobility-model.h>
#include <ns3/node.h>

namespace roambus::ns3_side {
namespace {

constexpr double kNothingDbm = -1000;

// SplitMix64: each seed gives a stream of bits that look independent of those of its neighbours.
std::uint64_t mixed(std::uint64_t x) {
    x += 0x9e3779b97f4a7c15;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
}

double uniform(std::uint64_t bits) {
    return (static_cast<double>(bits >> 11) + 0.5) / 9007199254740992.0;  // 2 to the power of 53
}

// A standard normal number for these bits (Box and Muller).
double normal(std::uint64_t bits) {
    const double radius = std::sqrt(-2 * std::log(uniform(mixed(bits))));
    return radius * std::cos(2 * M_PI * uniform(mixed(bits + 1)));
}

}  // namespace

NS_OBJECT_ENSURE_REGISTERED(ShadowedLoss);

ns3::TypeId ShadowedLoss::GetTypeId() {
    static ns3::TypeId type =
        ns3::TypeId("roambus::ShadowedLoss").SetParent<PropagationLossModel>().AddConstructor<ShadowedLoss>();
    return type;
}

ShadowedLoss::ShadowedLoss(const Settings& settings) : settings_(settings) {}

double ShadowedLoss::DoCalcRxPower(double tx_power_dbm, Mobility from, Mobility to) const {
    const double distance = from->GetDistanceFrom(to);
    const std::uint64_t here = place(from);
    const std::uint64_t there = place(to);
    const bool by_cells = settings_.cell_x_m > 0;
    if (distance < settings_.reference_m / 10 || (by_cells && here == there))
        return tx_power_dbm;
    const double mean =
        settings_.reference_loss_db + 10 * settings_.path_loss_exponent * std::log10(distance / settings_.reference_m);
    const double loss = mean + deviation(here, there);
    // ns-3's 802.15.4 receives what its noise allows, also below the sensitivity. Its channel asks for 0 dBm.
    const double level_dbm = settings_.nodes[from->GetObject<ns3::Node>()->GetId()].tx_power_dbm - loss;
    const bool unheard = settings_.stack == "lr-wpan" && level_dbm < settings_.sensitivity_dbm;
    return unheard ? kNothingDbm : tx_power_dbm - loss;
}

std::int64_t ShadowedLoss::DoAssignStreams(std::int64_t) {
    return 0;  // it draws from no stream of ns-3
}

// The cell of a node, or the node itself.
std::uint64_t ShadowedLoss::place(const Mobility& node) const {
    if (settings_.cell_x_m <= 0)
        return node->GetObject<ns3::Node>()->GetId();
    const ns3::Vector at = node->GetPosition();
    const auto column = static_cast<std::uint64_t>(std::max(0.0, at.x) / settings_.cell_x_m);
    const auto row = static_cast<std::uint64_t>(std::max(0.0, at.y) / settings_.cell_y_m);
    return row << 32 | column;
}

double ShadowedLoss::deviation(std::uint64_t from, std::uint64_t to) const {
    const std::uint64_t pair = mixed(mixed(static_cast<std::uint64_t>(settings_.seed) + 1) ^ mixed(std::min(from, to))) +
                               3 * std::max(from, to);
    const double half = normal(mixed(~pair)) * settings_.asymmetry_db / 2;
    return normal(mixed(pair)) * settings_.shadowing_db + (from < to ? half : -half);
}

}  // namespace roambus::ns3_side
