package org.opendedup.sar.volume.file;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import org.opendedup.sar.common.ByteRanges;
import org.opendedup.sar.common.GracePeriod;
import org.opendedup.sar.restore.ReadStream;
import org.opendedup.sar.restore.frame.ReadLatencies;
import org.opendedup.sar.restore.frame.ReadLatencies.From;
import org.opendedup.sar.volume.Volume;
import org.opendedup.sar.volume.node.ChangedBytes;
import org.opendedup.sar.volume.node.Node;
import org.opendedup.sar.volume.node.OpenFile;
import org.opendedup.sar.volume.node.RawFile;
import org.opendedup.sar.volume.write.FileWriter;

/**
 * Reads files: the bytes that their recipes describe, replaced by the newer bytes that the fast tier has, and those
 * that {@link FileWriter} has in memory. Holds no lock during disk reads.
 */
public final class FileReader {
    private final GracePeriod uses;
    private final ReadLatencies latencies;

    /**
     * @param uses open while a reader uses references that it has read
     * @param latencies counts the reads that wait for the fast tier
     */
    FileReader(GracePeriod uses, ReadLatencies latencies) {
        this.uses = uses;
        this.latencies = latencies;
    }

    /** See {@link Volume#read}. */
    int read(OpenFile file, long offset, ByteBuffer target) throws IOException {
        Node node = file.node();
        long size = node.size();
        if (offset >= size || !target.hasRemaining()) {
            return 0;
        }
        boolean continues = file.reader().note(offset, (int) Math.min(target.remaining(), size - offset), size);
        int start = target.position();
        while (!tryRead(node, file.reader(), offset, continues, target)) {
            target.position(start);
        }
        return target.position() - start;
    }

    /**
     * Reads the recipe's bytes and replaces those for which newer ones are on the fast tier or in memory. If bytes
     * moved from one to another meanwhile, or a change was half done, the bytes read may be of different moments. Then
     * returns false, and the caller must retry.
     */
    private boolean tryRead(Node node, ReadStream reader, long offset, boolean continues, ByteBuffer target)
            throws IOException {
        int start = target.position();
        long completions;
        int length;
        boolean covered;
        RawFile fastTier = null;
        List<ByteRanges.Range> changed = List.of();
        synchronized (node) {
            node.awaitWhole();
            node.transferred = true;
            length = lengthToRead(node, offset, target);
            completions = node.contents().completions;
            covered = node.contents().covers(offset, length);
            if (!covered && node.changed != null) {
                fastTier = node.changed.file();
                changed = node.changed.within(offset, offset + length);
            }
        }
        if (!covered && !isAll(changed, length)) {
            try (GracePeriod.Use use = uses.begin()) {
                reader.read(offset, length, continues, target);
            }
        }
        if (fastTier != null && !changed.isEmpty()) {
            target.position(start);
            latencies.waits(From.FAST_TIER);
            try {
                ChangedBytes.read(fastTier, changed, offset, target);
            } catch (IOException e) {
                if (isAsBefore(node, fastTier, completions)) {
                    throw e;
                }
                // They are stored in chunks now, and their backing file is gone.
                return false;
            }
        }
        synchronized (node) {
            Node.Contents contents = node.contents();
            target.position(start);
            if (contents.isHalfDone
                    || contents.completions != completions
                    || lengthToRead(node, offset, target) != length) {
                return false;
            }
            contents.overlay(offset, length, target);
            target.position(start + length);
            return true;
        }
    }

    private static boolean isAsBefore(Node node, RawFile fastTier, long completions) {
        synchronized (node) {
            return node.changed != null
                    && node.changed.file() == fastTier
                    && node.contents().completions == completions;
        }
    }

    private static boolean isAll(List<ByteRanges.Range> changed, int length) {
        return changed.size() == 1 && changed.get(0).bytes() == length;
    }

    /** Called with the node's monitor held. */
    private static int lengthToRead(Node node, long offset, ByteBuffer target) {
        return (int) Math.max(0, Math.min(target.remaining(), node.size - offset));
    }
}
