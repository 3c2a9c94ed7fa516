package org.opendedup.sar.volume;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.Lock;
import org.opendedup.sar.check.ReferenceCheck;
import org.opendedup.sar.metadata.MetadataStore;

/**
 * Checks that the metadata and the containers of an open volume are consistent, as {@link ReferenceCheck} does, and
 * that the container table agrees with the counts and the packs.
 */
public final class VolumeChecker {
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
        try {
            // Files that no commit includes yet already have pages and counts; now they get inode records too.
            context.nodes().evict(context.nodes().encodeDirty());
            new ReferenceCheck(metadata, container -> context.containers().frameTable(container), this::report)
                    .run((step, done, of) -> {});
            metadata.checkContainers(this::report);
            new PlaceChecker(context.containers(), this::report).check(metadata.containers());
        } finally {
            changes.unlock();
            commits.unlock();
        }
        if (unreported > 0) {
            problems.add("and " + unreported + " more problems");
        }
        return problems;
    }

    private void report(String problem) {
        if (problems.size() < MAX_REPORTED) {
            problems.add(problem);
        } else {
            unreported++;
        }
    }
}
