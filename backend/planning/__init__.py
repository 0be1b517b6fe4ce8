"""From a question to a plan: which source gets which words, and whether it is Home Assistant's to answer."""

from backend.planning.chooser import Chooser
from backend.planning.planner import Planner
from backend.planning.rules import plan_rules

__all__ = ["Chooser", "Planner", "plan_rules"]
