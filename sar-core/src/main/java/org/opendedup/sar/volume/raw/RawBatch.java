package org.opendedup.sar.volume.raw;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongConsumer;
import org.opendedup.sar.ingest.ByteRun;
import org.opendedup.sar.ingest.IngestPipeline;
import org.opendedup.sar.ingest.IngestPipeline.SmallFile;
import org.opendedup.sar.io.RandomFile;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.metadata.record.RawRecord;
import org.opendedup.sar.raw.MigrationPolicy;
import org.opendedup.sar.volume.node.Node;
import org.opendedup.sar.volume.node.NodeTable;
import org.opendedup.sar.volume.node.RawFile;
import org.opendedup.sar.volume.write.SmallFiles;

/**
 * Small raw files that are stored in chunks together, many in one segment, as {@link SmallFiles} stores dirty ones. A
 * file that cannot be stored this way is left out, and copied by itself.
 */
final class RawBatch implements Closeable {
    /** Maximum length of a small file, in bytes. */
    static final long MAX_FILE_BYTES = SmallFiles.MAX_FILE_BYTES;

    /** Maximum number of bytes of all files: those of one segment. */
    static final long MAX_BYTES = IngestPipeline.SEGMENT_BYTES;

    private static final int MAX_FILES = 256;

    private final RawCopier copier;
    private final NodeTable nodes;
    private final List<Member> members = new ArrayList<>();
    private long bytes;

    RawBatch(RawCopier copier, NodeTable nodes) {
        this.copier = copier;
        this.nodes = nodes;
    }

    /** A file of the batch; its storing lock is held, and its node and backing file are in use. */
    private record Member(
            Node node,
            Node.Contents contents,
            RawFile raw,
            int ticket,
            RawRecord.Copy copy,
            byte[] data,
            boolean isHelped)
            implements ByteRun {
        @Override
        public long start() {
            return 0;
        }

        @Override
        public long end() {
            return data.length;
        }

        @Override
        public void copy(long from, byte[] target, int at, int length) {
            System.arraycopy(data, (int) from, target, at, length);
        }

        /** Files of about a chunk are not cut (TDDFS paper, §3.2): most are whole duplicates or none. */
        boolean isOneChunk() {
            return data.length <= MigrationPolicy.SMALL_BYTES;
        }

        void release() {
            contents.storing.unlock();
            raw.leave(false);
            node.leave();
        }
    }

    boolean isEmpty() {
        return members.isEmpty();
    }

    boolean isFull() {
        return members.size() >= MAX_FILES || bytes > MAX_BYTES - MAX_FILE_BYTES;
    }

    /**
     * Adds a file that is small, at rest, and has nothing in chunks. Its bytes are durable, and its last change is so
     * old that a later one would show in its time: so the record cannot take other bytes for those of the copy. Does
     * nothing with any other file. The caller has admitted {@link #MAX_BYTES}.
     *
     * @return whether it was added
     * @throws IOException if the file cannot be read; those that were added before stay in the batch
     */
    boolean add(Node node, RawFile raw) throws IOException {
        if (raw.knownSize() > MAX_FILE_BYTES || raw.record().copy() != null) {
            return false;
        }
        Node.Contents contents = copier.use(node);
        boolean locked = contents.storing.tryLock();
        boolean opened = false;
        boolean added = false;
        try {
            int ticket = locked && node.rawFile() == raw && copier.hasNothingStored(node) ? raw.beginCopy() : -1;
            if (ticket < 0 || !raw.isForced() || !raw.isAtRest()) {
                return false;
            }
            RandomFile file = raw.use(false);
            opened = true;
            RandomFile.Status status = file.status();
            RawRecord.Copy copy = RawCopier.isSettled(status) ? RawFile.copyOf(status) : null;
            if (copy == null || copy.size() == 0 || copy.size() > MAX_FILE_BYTES) {
                return false;
            }
            byte[] data = new byte[(int) copy.size()];
            if (file.read(0, ByteBuffer.wrap(data)) < data.length) {
                return false;
            }
            members.add(new Member(
                    node, contents, raw, ticket, copy, data, !copier.throttle().isYielding()));
            bytes += data.length;
            added = true;
            return true;
        } finally {
            if (!added) {
                release(node, contents, raw, locked, opened);
            }
        }
    }

    private static void release(Node node, Node.Contents contents, RawFile raw, boolean locked, boolean opened) {
        if (locked) {
            contents.storing.unlock();
        }
        if (opened) {
            raw.leave(false);
        }
        node.leave();
    }

    /**
     * Stores all files, and empties the batch. Those that could not be stored have no current recipe afterwards.
     *
     * @param copied receives the length of each file that has one, in bytes
     */
    void store(LongConsumer copied) throws IOException {
        try {
            if (!members.isEmpty()) {
                List<SmallFile> files = new ArrayList<>(members.size());
                for (Member member : members) {
                    files.add(new SmallFile(
                            member.node.id,
                            member,
                            member.isOneChunk(),
                            (from, to) -> copier.noteStored(member.node, to)));
                }
                copier.store(() -> copier.pipeline().storeTogether(files, Inode.ROOT));
                for (Member member : members) {
                    if (copier.finish(member.node, member.raw, member.copy, member.ticket)) {
                        copied.accept(member.end());
                    }
                }
            }
        } finally {
            close();
        }
    }

    /** Gives the files back that were not stored, and empties the batch. */
    @Override
    public void close() {
        members.forEach(Member::release);
        nodes.evict(members.stream().map(Member::node).toList());
        members.clear();
        bytes = 0;
    }
}
