// Path loss with shadowing that stays: what ns-3 has not.
//
// ns-3's models draw a deviation for each frame, which is fading. Castalia's shadowing, and that of the embedded radio, is
// a property of two places: log-distance loss, plus a normal deviation for each pair of nodes (or of cells, if nodes
// move), plus half a deviation with its sign by the direction; 0 dB below a tenth of the reference distance. A deviation
// is computed from the seed and the pair, so that nothing is kept and the order of the questions does not matter.
#pragma once

#include <ns3/propagation-loss-model.h>

#include "settings.h"

namespace roambus::ns3_side {

class ShadowedLoss : public ns3::PropagationLossModel {
public:
    static ns3::TypeId GetTypeId();

    ShadowedLoss() = default;
    explicit ShadowedLoss(const Settings& settings);

private:
    using Mobility = ns3::Ptr<ns3::MobilityModel>;

    double DoCalcRxPower(double tx_power_dbm, Mobility from, Mobility to) const override;
    std::int64_t DoAssignStreams(std::int64_t stream) override;

    std::uint64_t place(const Mobility& node) const;
    double deviation(std::uint64_t from, std::uint64_t to) const;

    Settings settings_;
};

}  // namespace roambus::ns3_side
