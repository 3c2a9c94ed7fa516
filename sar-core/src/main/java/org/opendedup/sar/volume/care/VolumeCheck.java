package org.opendedup.sar.volume.care;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.opendedup.sar.check.Finding;
import org.opendedup.sar.check.PresentContainers;
import org.opendedup.sar.check.Scratch;
import org.opendedup.sar.check.StoredVolume;
import org.opendedup.sar.collect.Pins;
import org.opendedup.sar.common.Closing;
import org.opendedup.sar.common.Progress;
import org.opendedup.sar.container.PackFolder;
import org.opendedup.sar.container.format.ContainerCipher;
import org.opendedup.sar.metadata.db.KeyValueStore;
import org.opendedup.sar.metadata.db.KeyValueStores;
import org.opendedup.sar.volume.backup.MetadataRestore;
import org.opendedup.sar.volume.config.MemoryPlan;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.engine.EngineInUse;
import org.opendedup.sar.volume.store.CheckFolder;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Checks a volume that is in use, by a cut: a copy of its metadata database as of a commit, which shares the tables
 * with it. Reads and changes of the volume go on meanwhile, and only collections wait (docs/adr/0041). Safe for use by
 * many threads; one check runs at a time, and a second one waits.
 */
public final class VolumeCheck {
    private static final Logger log = LoggerFactory.getLogger(VolumeCheck.class);

    /** Time between two looks whether a waiting check is to be stopped, in milliseconds. */
    private static final long WAIT_MS = 200;

    private final VolumeConfig config;
    private final EngineInUse volume;
    private final MemoryPlan memory;
    private final ReentrantLock running = new ReentrantLock();

    public VolumeCheck(VolumeConfig config, EngineInUse volume) {
        this.config = config;
        this.volume = volume;
        memory = MemoryPlan.of(config);
        if (volume.committer().isReadOnly()) {
            return;
        }
        try {
            CheckFolder.removeLeftover(config.locations().metadata());
            MetadataRestore.removeLeftover(config.locations());
        } catch (IOException e) {
            log.warn(
                    "what an interrupted check, restore or backup left in {} is not deleted: {}",
                    config.locations().metadata(),
                    e.toString());
        }
    }

    /**
     * Checks everything that can be checked without reading chunks, the index and the SSD's Map table included. Commits
     * what was written before. What is written meanwhile is not checked.
     *
     * @throws IOException if the check cannot run: there is too little space for it
     * @throws java.io.InterruptedIOException if {@code progress} stopped it
     */
    public StoredVolume.Report run(Progress progress) throws IOException {
        return run(progress, true, volume.metadata().containers()::get, () -> {}, true);
    }

    /** As {@link #run}, without index and SSD. */
    StoredVolume.Report withoutCopies(Progress progress) throws IOException {
        return run(progress, true, volume.metadata().containers()::get, () -> {}, false);
    }

    /**
     * @param pins whether collections wait; without it, chunks that the cut refers to may be removed
     * @param present where containers lie now
     * @param afterCut called when the cut is made, before it is read
     * @param withCopies whether the index and the SSD's Map table are compared, too
     */
    public StoredVolume.Report run(
            Progress progress, boolean pins, PresentContainers present, Closing.Step afterCut, boolean withCopies)
            throws IOException {
        volume.committer().refuseIfReadOnly();
        VolumeConfig.Locations locations = config.locations();
        await(progress);
        // From before the cut: what the cut refers to stays.
        try (Pins.Pin pin = pins ? volume.collector().pins().pin() : () -> {};
                CheckFolder folder = CheckFolder.make(locations.metadata())) {
            progress.at("copy of the metadata", 0, 0);
            // Of changes that the disk refuses, nothing is in the cut; what is there is checked nevertheless.
            commit();
            Path cut = folder.cut();
            if (!volume.metadata().checkpoint(cut)) {
                throw new IOException("the metadata are not in a database with files");
            }
            afterCut.run();
            Scratch scratch = folder.scratch(memory.checkTuples(), config.keys());
            StoredVolume.Report report;
            try (KeyValueStore database = KeyValueStores.openRocksDb(cut, memory.checkNative(), false, config.keys())) {
                report = StoredVolume.inUse(
                                new PackFolder(volume.data(), ContainerCipher.of(config.keys())),
                                database,
                                config.name(),
                                scratch,
                                present)
                        .check(progress);
            }
            if (!withCopies) {
                return report;
            }
            List<Finding> findings = new ArrayList<>(report.findings());
            findings.addAll(new CopyCheck(config, volume, scratch).run(progress));
            return new StoredVolume.Report(report.containers(), findings);
        } finally {
            running.unlock();
        }
    }

    /** Waits for its turn, and tells so. Takes the lock {@link #running}. */
    private void await(Progress progress) throws IOException {
        try {
            while (!running.tryLock(WAIT_MS, TimeUnit.MILLISECONDS)) {
                progress.at("waiting for a scrub, which compares references", 0, 0);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("the check was interrupted while it waited for a scrub");
        }
    }

    private void commit() {
        try {
            volume.committer().commit();
        } catch (IOException e) {
            log.warn("the check looks at an earlier commit, because the last one failed: {}", e.getMessage());
        }
    }
}
