package org.opendedup.sar.sdfs.wear;

import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.Figure;

/** What a volume wrote to its SSD location, and the wear of the devices below it. The names are stable. */
public record WearFigures(
        @Figure(
                value = "Bytes that the program wrote to the SSD location, in all mounts of the volume",
                unit = "bytes",
                counter = true)
        long writtenBytes,

        @Figure(value = "Bytes of these that were written today, in local time", unit = "bytes")
        long writtenTodayBytes,

        @Figure(value = "Mean of the bytes that were written on each of the seven days before today", unit = "bytes")
        long writtenPerDayBytes,

        @Figure(
                value = "Share of the endurance of the most worn device below the SSD location that is used, as the"
                        + " device says; 1 when the endurance that its maker names is used up",
                unit = "ratio")
        @Nullable
        Double wearRatio,

        @Figure(value = "Devices that the SSD location lies on, separated by commas; empty if unknown", unit = "text")
        String devices,

        @Figure(value = "Why the wear is not known; empty if it is known, or the volume has no SSD", unit = "text")
        String wearUnknown) {}
