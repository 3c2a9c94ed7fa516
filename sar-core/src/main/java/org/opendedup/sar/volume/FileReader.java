package org.opendedup.sar.volume;

import java.io.IOException;
import java.nio.ByteBuffer;
import org.opendedup.sar.restore.ReadStream;

/** Reads files: what their recipes say, and over it what {@link FileWriter} has in memory. Takes no lock for the disk. */
final class FileReader {
    /** See {@link Volume#read}. */
    int read(OpenFile file, long offset, ByteBuffer target) throws IOException {
        Node node = file.node();
        long size = node.size();
        if (offset >= size || !target.hasRemaining()) {
            return 0;
        }
        file.reader().note(offset, (int) Math.min(target.remaining(), size - offset), size);
        int start = target.position();
        while (!tryRead(node, file.reader(), offset, target)) {
            target.position(start);
        }
        return target.position() - start;
    }

    /**
     * Reads the recipe's bytes and lays over them what is newer. If bytes moved from memory to the recipe meanwhile, or the
     * file's end moved, the bytes read may be of different moments: then the read is to be tried again.
     */
    private boolean tryRead(Node node, ReadStream reader, long offset, ByteBuffer target) throws IOException {
        int start = target.position();
        long completions;
        int length;
        boolean covered;
        synchronized (node) {
            node.awaitEnd();
            length = lengthToRead(node, offset, target);
            completions = node.contents().completions;
            covered = node.contents().covers(offset, length);
        }
        if (!covered) {
            reader.read(offset, length, target);
        }
        synchronized (node) {
            Node.Contents contents = node.contents();
            target.position(start);
            if (contents.isCut || contents.completions != completions || lengthToRead(node, offset, target) != length) {
                return false;
            }
            contents.overlay(offset, length, target);
            target.position(start + length);
            return true;
        }
    }

    /** Called with the node's monitor held. */
    private static int lengthToRead(Node node, long offset, ByteBuffer target) {
        return (int) Math.max(0, Math.min(target.remaining(), node.size - offset));
    }
}
