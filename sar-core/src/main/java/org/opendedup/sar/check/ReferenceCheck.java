package org.opendedup.sar.check;

import java.io.IOException;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.check.Finding.Kind;
import org.opendedup.sar.check.Finding.Severity;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.Progress;
import org.opendedup.sar.io.NoAnswer;
import org.opendedup.sar.metadata.MetadataRecords;
import org.opendedup.sar.metadata.record.ContainerCounts;
import org.opendedup.sar.metadata.record.StoredCopies;
import org.opendedup.sar.metadata.repair.Corrections;

/**
 * Compares the references of recipes with the counts and with the directories of the containers, container by
 * container: each reference is counted, nothing else is counted, and each leads to a chunk of its container that has
 * the fingerprint prefix and the length that the recipe says. Reads no chunk.
 */
final class ReferenceCheck {
    private final MetadataRecords records;
    private final ChunkDirectory.Source directories;
    private final CheckFindings findings;
    private final Corrections corrections;
    /** References of the present container by slot, and those of them that are continuations. */
    private final int[] references = new int[ChunkId.MAX_SLOTS];

    private final int[] continuations = new int[ChunkId.MAX_SLOTS];
    /** Slots of these arrays that are in use. */
    private int slots;

    private StoredCopies recounted = StoredCopies.NONE;

    ReferenceCheck(
            MetadataRecords records,
            ChunkDirectory.Source directories,
            CheckFindings findings,
            Corrections corrections) {
        this.records = records;
        this.directories = directories;
        this.findings = findings;
        this.corrections = corrections;
    }

    /**
     * Runs the check.
     *
     * @param containers number of containers, for the progress
     * @return the stored copies of all containers according to their counts
     */
    StoredCopies run(References sorted, long containers, Progress progress) throws IOException {
        References.Reader reader = sorted.read();
        long[] done = {0};
        records.forEachCounted((container, counts) -> {
            withoutCounts(reader, container);
            progress.at(StoredVolume.REFERENCES, done[0]++, containers);
            check(reader, container, counts, true);
        });
        withoutCounts(reader, Long.MAX_VALUE);
        return recounted;
    }

    private void withoutCounts(References.Reader reader, long end) throws IOException {
        long container = reader.nextContainer();
        while (container < end) {
            check(reader, container, null, false);
            container = reader.nextContainer();
        }
    }

    private void check(References.Reader reader, long container, @Nullable ContainerCounts counts, boolean hasRecord)
            throws IOException {
        if (counts != null) {
            recounted = recounted.plus(StoredCopies.of(counts));
        }
        ChunkDirectory directory = null;
        IOException unreadable = null;
        try {
            directory = directories.of(container);
        } catch (IOException e) {
            NoAnswer.rethrow(e);
            unreadable = e;
        }
        Arrays.fill(references, 0, slots, 0);
        Arrays.fill(continuations, 0, slots, 0);
        slots = 0;
        boolean isRight = hasRecord && counts != null;
        if (unreadable != null && reader.nextContainer() == container) {
            unreadable(reader, container, unreadable);
        } else {
            isRight &= compareReferences(reader, container, counts, directory);
        }
        if (!hasRecord) {
            findings.container(report("container " + container + " is referred to and has no counts"), container);
        } else if (counts != null) {
            isRight &= compareCounts(container, counts);
            isRight &= directory == null || hasLengths(container, counts, directory);
        }
        if (!isRight) {
            correct(container, counts, directory);
        }
    }

    private void correct(long container, @Nullable ContainerCounts counts, @Nullable ChunkDirectory directory)
            throws IOException {
        int all = Math.max(slots, counts == null ? 0 : counts.slots());
        if (counts == null && directory != null) {
            all = Math.max(all, directory.slots());
        }
        ChunkDirectory known = directory;
        corrections.counts(container, counts, references, continuations, all, known == null ? null : known::length);
    }

    private int report(String problem) {
        return findings.add(Severity.DEFECT, Kind.REFERENCES, problem);
    }

    private void count(References.Reader reader) {
        references[reader.slot()]++;
        continuations[reader.slot()] += reader.chunkOffset() > 0 ? 1 : 0;
        slots = Math.max(slots, reader.slot() + 1);
    }

    /** The directory is damaged or missing, and nobody has said so yet: all references to the container are lost. */
    private void unreadable(References.Reader reader, long container, IOException why) throws IOException {
        int finding = findings.add(
                Severity.LOSS,
                Kind.MISSING_CONTAINER,
                "container " + container + " is referred to and cannot be read: " + why.getMessage());
        findings.container(finding, container);
        while (reader.nextIn(container)) {
            count(reader);
            damaged(finding, reader);
        }
    }

    private void damaged(int finding, References.Reader reader) {
        findings.damaged(finding, reader.inode(), reader.fileOffset(), reader.fileOffset() + reader.length());
    }

    /** Returns whether the container has all chunks that are referred to and not known to be damaged. */
    private boolean compareReferences(
            References.Reader reader,
            long container,
            @Nullable ContainerCounts counts,
            @Nullable ChunkDirectory directory)
            throws IOException {
        boolean hasAll = true;
        String reported = "";
        int finding = -1;
        while (reader.nextIn(container)) {
            count(reader);
            boolean isKnown = counts != null && counts.isDamaged(reader.slot());
            String problem = directory == null || isKnown ? null : problem(reader, container, directory);
            if (problem == null) {
                continue;
            }
            // Neighbours in the order of slots: one finding for each chunk and reason.
            if (!problem.equals(reported)) {
                finding = findings.add(Severity.LOSS, Kind.WRONG_REFERENCE, problem);
                findings.container(finding, container);
                reported = problem;
            }
            damaged(finding, reader);
            hasAll &= directory == null || directory.has(reader.slot());
        }
        return hasAll;
    }

    private static @Nullable String problem(References.Reader reader, long container, ChunkDirectory directory) {
        int slot = reader.slot();
        String chunk = "chunk " + container + ":" + slot;
        if (!directory.has(slot)) {
            return chunk + " is referred to and not in its container, which has " + directory.slots() + " chunks";
        }
        if (!directory.mayBegin(slot, reader.prefix())) {
            return chunk + " has another fingerprint than files that refer to it expect: it is not their content";
        }
        int length = directory.length(slot);
        return length > 0 && reader.chunkOffset() + reader.length() > length
                ? chunk + " has " + length + " bytes, and files refer to bytes after its end"
                : null;
    }

    private boolean compareCounts(long container, ContainerCounts counts) {
        boolean isRight = true;
        for (int slot = 0; slot < Math.max(counts.slots(), slots); slot++) {
            int counted = slot < counts.slots() ? counts.count(slot) : 0;
            int referenced = slot < slots ? references[slot] : 0;
            if (counted != referenced) {
                isRight = false;
                findings.container(
                        report("chunk " + container + ":" + slot + " is counted " + counted + " times and referred to "
                                + referenced + " times"),
                        container);
            }
            int continued = slot < counts.slots() ? counts.continuations(slot) : 0;
            int found = slot < slots ? continuations[slot] : 0;
            if (continued != found) {
                isRight = false;
                findings.container(
                        report("chunk " + container + ":" + slot + " is counted " + continued
                                + " times from after its first byte and referred to that way " + found + " times"),
                        container);
            }
        }
        return isRight;
    }

    private boolean hasLengths(long container, ContainerCounts counts, ChunkDirectory directory) {
        boolean isRight = true;
        for (int slot = 0; slot < Math.min(counts.slots(), directory.slots()); slot++) {
            // A repair that did not find the container knows no lengths.
            if (counts.isAlive(slot) && counts.length(slot) == 0 && directory.length(slot) > 0) {
                isRight = false;
                findings.container(
                        report("chunk " + container + ":" + slot + " has " + directory.length(slot)
                                + " bytes and its counts say none"),
                        container);
            }
        }
        for (int frame = 0; frame < directory.table().frames(); frame++) {
            String problem = FrameLengths.problem(container, frame, counts, directory);
            if (problem != null) {
                isRight = false;
                findings.container(report(problem), container);
            }
        }
        return isRight;
    }
}
