"""MFT-PubSub without its tree, with the times of LoRa; a module of its own, because its agent is an extension's."""

from roambus.extensions.lean.agent import LeanMft
from roambus.extensions.lean.messages import LeanParameters
from roambus.extensions.lora.profile import with_times_of_lora

LoraLeanParameters = with_times_of_lora(LeanParameters, __name__)


class LoraLean(LeanMft):
    """MFT-PubSub without its tree, with the times of LoRa."""

    parameters_type = LoraLeanParameters
