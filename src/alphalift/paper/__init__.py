"""The paper's numerical section, run again: experiment, figure and a verdict on every claim."""

from alphalift.paper.experiment import OPTIMUM_EPSILONS, Experiment, random_joints, run_experiment
from alphalift.paper.write import write_experiment

__all__ = ["OPTIMUM_EPSILONS", "Experiment", "random_joints", "run_experiment", "write_experiment"]
