#pragma once

#include "node/application/VirtualApplication.h"

#include "bytes_packet.h"

namespace roambus {

// The beacon agent in C++: Poisson broadcasts, the first uniform in one mean gap after the start; counts what it hears.
class NativeBeacon : public VirtualApplication {
protected:
    void initialize() override;
    void startup() override;
    void timerFiredCallback(int timer) override;
    void fromNetworkLayer(ApplicationPacket* packet, const char* source, double rssi, double lqi) override;
    void finishSpecific() override;

private:
    double rate_ = 0;
    Payload beacon_;
    long sent_ = 0;
    long received_ = 0;
    double rssi_sum_ = 0;
    double lqi_sum_ = 0;
};

}  // namespace roambus
