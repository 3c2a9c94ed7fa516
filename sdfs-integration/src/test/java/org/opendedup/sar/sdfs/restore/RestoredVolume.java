package org.opendedup.sar.sdfs.restore;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import org.opendedup.sar.io.Libc;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.sdfs.config.Definitions;
import org.opendedup.sar.volume.Volume;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.node.OpenFile;
import org.opendedup.sar.volume.posix.Owner;

/** A volume that nobody has mounted, and restores of all that is in it. */
final class RestoredVolume implements Closeable {
    private static final long RARELY = Long.MAX_VALUE;
    private static final Owner ROOT = new Owner(0, 0);

    private final VolumeConfig config;
    Volume volume;

    /** @param base where it lies; must not exist */
    RestoredVolume(Path base) throws IOException {
        config = Definitions.plain("pool0", base).engineConfig();
        Volume.create(config);
        volume = Volume.open(config);
    }

    VolumeConfig config() {
        return config;
    }

    /** What happens to a volume that is closed. */
    @FunctionalInterface
    interface Closed {
        void run() throws Exception;
    }

    void whileClosed(Closed work) throws Exception {
        volume.close();
        work.run();
        volume = Volume.open(config);
    }

    long makeFolder(long directory, String name, int mode) throws IOException {
        return volume.makeDirectory(directory, bytes(name), mode, ROOT).inode();
    }

    long makeFile(long directory, String name, byte[] content) throws IOException {
        long inode = volume.makeNode(directory, bytes(name), 0100644, 0, ROOT).inode();
        OpenFile file = volume.open(inode, true);
        volume.write(file, 0, ByteBuffer.wrap(content));
        volume.close(file);
        return inode;
    }

    RestoreStatus restore(Path target, Libc posix) throws IOException {
        TreeRestore restore = new TreeRestore(volume, "", target, RARELY, posix);
        restore.run(Inode.ROOT);
        return restore.status();
    }

    RestoreStatus restore(Path target) throws IOException {
        return restore(target, new Libc());
    }

    static byte[] bytes(String text) {
        return text.getBytes(UTF_8);
    }

    @Override
    public void close() throws IOException {
        volume.close();
    }
}
