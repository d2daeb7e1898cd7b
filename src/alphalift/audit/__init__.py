"""Audits of what is given, ours or not: a channel and a joint, samples, a released table. Tables are read without what audits them."""

from typing import TYPE_CHECKING

from alphalift.lazily import when_used

if TYPE_CHECKING:
    from alphalift.audit.channel import Channel, ChannelAudit, audit_channel
    from alphalift.audit.counted import Samples, read_samples
    from alphalift.audit.matrices import Labelled, read_labelled
    from alphalift.audit.orientation import read_channel, read_joint_matrix
    from alphalift.audit.released import ReleaseAudit, audit_release
    from alphalift.audit.samples import Answer, SamplesAudit, audit_samples
else:
    __getattr__ = when_used(
        __name__,
        {
            "channel": "Channel ChannelAudit audit_channel",
            "counted": "Samples read_samples",
            "matrices": "Labelled read_labelled",
            "orientation": "read_channel read_joint_matrix",
            "released": "ReleaseAudit audit_release",
            "samples": "Answer SamplesAudit audit_samples",
        },
    )

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
