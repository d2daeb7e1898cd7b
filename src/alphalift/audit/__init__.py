"""Audits of what is given, ours or not: a channel and a joint, samples, a released table."""

from alphalift.audit.channel import Channel, ChannelAudit, audit_channel
from alphalift.audit.matrices import Labelled, read_labelled
from alphalift.audit.orientation import read_channel, read_joint_matrix
from alphalift.audit.released import ReleaseAudit, audit_release
from alphalift.audit.samples import Answer, Samples, SamplesAudit, audit_samples, read_samples

__all__ = [
    "Answer",
    "Channel",
    "ChannelAudit",
    "Labelled",
    "ReleaseAudit",
    "Samples",
    "SamplesAudit",
    "audit_channel",
    "audit_release",
    "audit_samples",
    "read_channel",
    "read_joint_matrix",
    "read_labelled",
    "read_samples",
]
