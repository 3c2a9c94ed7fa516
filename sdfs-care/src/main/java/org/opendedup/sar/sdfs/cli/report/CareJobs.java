package org.opendedup.sar.sdfs.cli.report;

import org.opendedup.sar.sdfs.check.VolumeChecks;
import org.opendedup.sar.sdfs.collect.GarbageCollections;
import org.opendedup.sar.sdfs.heal.Heals;
import org.opendedup.sar.sdfs.jobs.AttendedJobs;
import org.opendedup.sar.sdfs.jobs.StartTimes;
import org.opendedup.sar.sdfs.scrub.Scrubs;
import org.opendedup.sar.volume.backup.MetadataBackups;

/** The jobs that each open volume has, with and without files, and when those of a schedule begin. */
public record CareJobs(
        GarbageCollections collections,
        StartTimes collectionTimes,
        Scrubs scrubs,
        StartTimes scrubTimes,
        Heals heals,
        VolumeChecks checks,
        AttendedJobs<MetadataBackups.Copy> backups) {}
