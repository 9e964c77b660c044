# Our modules for Castalia: build/libroambus.so. OMNETPP_ROOT and CASTALIA_ROOT name the OMNeT++ and the Castalia that
# it is made against; they are only read. The Makefile in the folder above includes this file.

ifneq ($(filter castalia,$(MAKECMDGOALS)),)
need_root = $(if $($(1)),,$(error $(1) is not set: let it name the folder of a built $(2)))
need_file = $(if $(wildcard $($(1))/$(3)),,$(error $(1)=$($(1)) holds no $(3): build $(2) there first))
$(call need_root,OMNETPP_ROOT,OMNeT++)$(call need_file,OMNETPP_ROOT,OMNeT++,lib/liboppsim.so)
$(call need_root,CASTALIA_ROOT,Castalia)$(call need_file,CASTALIA_ROOT,Castalia,src/CastaliaBin)
endif

OMNETPP_RELEASE := $(patsubst omnetpp-%,%,$(shell cat $(OMNETPP_ROOT)/Version 2>/dev/null))
CASTALIA_BIN := $(CASTALIA_ROOT)/src/CastaliaBin
CASTALIA_OBJECTS := $(patsubst %.cc,$(BUILD)/%.o,$(wildcard castalia/*.cc))
CASTALIA_ROOTS := $(BUILD)/castalia/roots

# Castalia's headers want OMNeT++'s names without their namespace; OMNeT++ is built for release, without assertions.
CASTALIA_FLAGS := -DAUTOIMPORT_OMNETPP_NAMESPACE -DNDEBUG -DROAMBUS_OMNETPP_RELEASE='"$(OMNETPP_RELEASE)"' \
    -isystem $(OMNETPP_ROOT)/include -isystem $(CASTALIA_ROOT)/src

castalia: $(BUILD)/libroambus.so

# Castalia's own symbols come from CastaliaBin, which loads the library.
$(BUILD)/libroambus.so: $(CASTALIA_OBJECTS) $(BUILD)/libroambus.a
	$(CXX) $(CXXFLAGS) -shared -o $@ $^ $(LIBS) -L$(OMNETPP_ROOT)/lib -loppsim -Wl,-rpath,$(OMNETPP_ROOT)/lib

$(BUILD)/castalia/%.o: castalia/%.cc $(CASTALIA_ROOTS) $(CASTALIA_BIN) | $(BUILD)/wire.pb.h $(BUILD)/schema_hash.h
	@mkdir -p $(@D)
	$(COMPILE) $(CASTALIA_FLAGS) -c -o $@ $<

# Changes when other folders are named.
$(CASTALIA_ROOTS): FORCE
	@mkdir -p $(@D)
	@echo $(OMNETPP_ROOT) $(CASTALIA_ROOT) | cmp -s - $@ || echo $(OMNETPP_ROOT) $(CASTALIA_ROOT) > $@

.PHONY: FORCE
FORCE:
