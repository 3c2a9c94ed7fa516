package org.opendedup.sar.volume;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.Lock;
import org.opendedup.sar.check.ChunkDirectory;
import org.opendedup.sar.check.MetadataCheck;
import org.opendedup.sar.check.Scratch;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.container.ContainerStore;
import org.opendedup.sar.io.FileDirectory;
import org.opendedup.sar.io.PrivateFiles;
import org.opendedup.sar.metadata.ContainerTableCheck;
import org.opendedup.sar.metadata.MetadataStore;
import org.opendedup.sar.metadata.PresentRecords;
import org.opendedup.sar.metadata.repair.Corrections;
import org.opendedup.sar.volume.parts.VolumeContext;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Checks that the metadata and the containers of an open volume are consistent, as {@link MetadataCheck} does, and that
 * the container table agrees with the counts and the packs; with the changes that are not committed.
 */
public final class VolumeChecker {
    private static final Logger log = LoggerFactory.getLogger(VolumeChecker.class);

    /** Maximum number of problems reported; further ones are only counted. */
    private static final int MAX_REPORTED = 100;

    private final VolumeContext context;
    private final MetadataStore metadata;
    private final List<String> problems = new ArrayList<>();
    private long unreported;

    private VolumeChecker(VolumeContext context) {
        this.context = context;
        this.metadata = context.metadata();
    }

    /**
     * Checks an open volume. Changes wait meanwhile.
     *
     * @return the problems found, one sentence each; empty if there are none
     */
    public static List<String> check(Volume volume) throws IOException {
        return new VolumeChecker(volume.context()).check();
    }

    private List<String> check() throws IOException {
        Lock commits = context.committer().commitLock();
        commits.lock();
        Lock changes = context.committer().exclusive();
        changes.lock();
        Path scratch = Files.createTempDirectory("sdfs-check");
        try {
            // Files that no commit includes yet already have pages and counts; now they get inode records too.
            context.nodes().evict(context.nodes().encodeDirty());
            new MetadataCheck(
                            PresentRecords.of(metadata),
                            this::directory,
                            (severity, kind, what) -> {
                                report(what);
                                return 0;
                            },
                            Corrections.NONE)
                    .run(
                            new Scratch(FileDirectory.open(scratch), () -> {}, Scratch.MOST_MEMORY_BYTES, null),
                            0,
                            (step, done, of) -> {});
            ContainerTableCheck.run(metadata, this::report);
            new PlaceChecker(context.containers(), this::report).check(metadata.containers());
        } finally {
            changes.unlock();
            commits.unlock();
            PrivateFiles.deleteFolder(scratch);
        }
        if (unreported > 0) {
            problems.add("and " + unreported + " more problems");
        }
        return problems;
    }

    /** The chunks of a container that is being written, or that a crash left open, are in no directory yet. */
    private ChunkDirectory directory(long container) throws IOException {
        ContainerStore containers = context.containers();
        if (containers.isSealed(container)) {
            try {
                return ChunkDirectory.of(containers.directory(container));
            } catch (CorruptionException e) {
                // With a damaged header, the frames can be read nevertheless.
                log.debug("only the frame table of container {} is compared", container, e);
            }
        }
        // Before the table: a container that is sealed in between has all chunks there.
        int appended = containers.appendedChunks(container);
        return ChunkDirectory.of(containers.frameTable(container), appended);
    }

    private void report(String problem) {
        if (problems.size() < MAX_REPORTED) {
            problems.add(problem);
        } else {
            unreported++;
        }
    }
}
