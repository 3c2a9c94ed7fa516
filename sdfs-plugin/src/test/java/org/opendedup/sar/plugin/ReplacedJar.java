package org.opendedup.sar.plugin;

import java.io.RandomAccessFile;
import java.nio.file.Path;

/**
 * A process whose plugin is replaced while it runs, as by an administrator who copies a newer one over it: classes that
 * were not used yet cannot be loaded any more. Stores a chunk and closes as SDFS does.
 */
public final class ReplacedJar {
    private ReplacedJar() {}

    /** @param arguments a folder, and the jar in the class path */
    public static void main(String[] arguments) throws Exception {
        SarChunkStore store = new SarChunkStore();
        store.init(Host.config(Path.of(arguments[0]), ""));
        SarHashesMap map = new SarHashesMap();
        map.init(1000, arguments[0], 0.01);
        map.put(Chunk.of(1).data(1, "file"));
        store.sync();
        try (RandomAccessFile jar = new RandomAccessFile(arguments[1], "rw")) {
            jar.setLength(0);
        }
        store.close();
        map.close();
        System.out.println("closed");
        System.exit(0);
    }
}
