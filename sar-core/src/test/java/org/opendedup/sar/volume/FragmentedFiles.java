package org.opendedup.sar.volume;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Random;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.volume.node.OpenFile;
import org.opendedup.sar.volume.posix.Owner;

/** Files of a volume that contain runs of bytes of an old one, from different places, like late backups. */
final class FragmentedFiles {
    private final Volume volume;
    private final Random random;
    private final byte[] old;

    /** Writes the old file, of random bytes. */
    FragmentedFiles(Volume volume, Random random, int oldBytes) throws IOException {
        this.volume = volume;
        this.random = random;
        old = new byte[oldBytes];
        random.nextBytes(old);
        write("old", old);
    }

    /**
     * Writes a file.
     *
     * @param runBytes of a run, on average
     * @return its contents
     */
    byte[] write(String name, int bytes, int runBytes) throws IOException {
        byte[] content = new byte[bytes];
        for (int at = 0; at < bytes; ) {
            int length = Math.min(bytes - at, 1 + random.nextInt(2 * runBytes));
            System.arraycopy(old, random.nextInt(old.length - length), content, at, length);
            at += length;
        }
        write(name, content);
        return content;
    }

    private void write(String name, byte[] content) throws IOException {
        long inode = volume.makeNode(Inode.ROOT, name.getBytes(UTF_8), 0100644, 0, new Owner(0, 0))
                .inode();
        OpenFile file = volume.open(inode, true);
        volume.write(file, 0, ByteBuffer.wrap(content));
        volume.close(file);
    }
}
