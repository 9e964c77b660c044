# ns-3 as a simulator: build/roambus-ns3. NS3_ROOT names the folder of the package `ns3` of PyPI, with include and lib64; it
# is only read. The Makefile in the folder above includes this file.

ifneq ($(filter ns3,$(MAKECMDGOALS)),)
$(if $(wildcard $(NS3_ROOT)/include/ns3/lr-wpan-mac.h),,$(error NS3_ROOT=$(NS3_ROOT) holds no include/ns3/lr-wpan-mac.h: \
    let it name the folder `ns3` of an installed package ns3))
endif

NS3_OBJECTS := $(patsubst %.cc,$(BUILD)/%.o,$(wildcard ns3/*.cc))
NS3_LIBRARIES := $(foreach part,lr-wpan wifi spectrum propagation mobility antenna network core,\
    $(wildcard $(NS3_ROOT)/lib64/libns3.*-$(part).so))

# The libraries are called libns3.44-core.so and so on.
NS3_RELEASE := $(patsubst libns%-core.so,%,$(notdir $(wildcard $(NS3_ROOT)/lib64/libns3*-core.so)))

.PHONY: ns3
ns3: $(BUILD)/roambus-ns3

$(BUILD)/roambus-ns3: $(NS3_OBJECTS) $(BUILD)/libroambus.a
	$(CXX) $(CXXFLAGS) -o $@ $^ $(LIBS) $(NS3_LIBRARIES) -Wl,-rpath,$(NS3_ROOT)/lib64 \
	    -Wl,-rpath-link,$(NS3_ROOT)/lib64 -Wl,--allow-shlib-undefined

# ns-3's headers are of a later C++ than ours.
$(BUILD)/ns3/%.o: ns3/%.cc | $(BUILD)/wire.pb.h $(BUILD)/schema_hash.h
	@mkdir -p $(@D)
	$(COMPILE) -std=c++20 -DROAMBUS_NS3_RELEASE='"$(NS3_RELEASE)"' -isystem $(NS3_ROOT)/include -c -o $@ $<
