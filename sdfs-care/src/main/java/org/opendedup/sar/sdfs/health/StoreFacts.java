package org.opendedup.sar.sdfs.health;

import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.hot.SsdState;
import org.opendedup.sar.volume.backup.MetadataBackups;
import org.opendedup.sar.volume.engine.VolumeCondition;

/**
 * What is known at one moment about what a volume stores, with or without files. {@link StoreRules} decide whether that
 * is well.
 *
 * @param volume name of the volume
 * @param data the first folder of containers
 * @param containers where all containers are: the folders, or the address of an object store
 * @param ssd state of the SSD
 * @param ssdReason why the SSD is in that state; may be empty
 * @param ssdDetachedOnRequest whether an administrator detached the SSD
 * @param collectionFailure why the last collection of garbage failed; null if it did not
 * @param collectionDue time of the schedule for which no collection of garbage has run; null if there is none
 * @param scrub the scrubs
 * @param backups the automatic backups of the metadata
 * @param keyHeaderFaults what is wrong with the copies of the key header of an encrypted volume, in words
 * @param now the time of the other facts
 */
public record StoreFacts(
        String volume,
        Path data,
        String containers,
        VolumeCondition condition,
        SsdState ssd,
        String ssdReason,
        boolean ssdDetachedOnRequest,
        @Nullable String collectionFailure,
        @Nullable Instant collectionDue,
        ScrubFacts scrub,
        MetadataBackups.Condition backups,
        List<String> keyHeaderFaults,
        Instant now) {}
