package org.opendedup.sar.plugin;

import java.lang.reflect.InvocationTargetException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.opendedup.collections.InsertRecord;

/**
 * A process with the libraries of SDFS: works with its own RocksDB and with the plugin by turns. By reflection, because
 * the tests are compiled without the host's libraries.
 */
public final class TwoVersions {
    private TwoVersions() {}

    /** @param arguments a folder; the variable SDFS_PASSPHRASE has the passphrase of the volume in it */
    public static void main(String[] arguments) throws Exception {
        Path folder = Path.of(arguments[0]);
        Files.createDirectories(folder);
        System.out.println(hostsRocksDb(folder.resolve("host"), 0));
        SarChunkStore store = new SarChunkStore();
        store.init(Host.config(folder, "sar-encrypt='true'"));
        SarHashesMap map = new SarHashesMap();
        map.init(1000, folder.toString(), 0.01);
        for (int round = 0; round < 3; round++) {
            for (int i = 0; i < 50; i++) {
                Chunk chunk = Chunk.of(round * 50 + i);
                InsertRecord put = map.put(chunk.data(1, "file"));
                if (!put.getInserted()
                        || !Arrays.equals(chunk.bytes(), map.getData(chunk.hash(), Chunk.location(put)))) {
                    throw new IllegalStateException("chunk " + i);
                }
            }
            store.sync();
            System.out.println(hostsRocksDb(folder.resolve("host"), round + 1));
        }
        store.close();
        map.close();
        System.out.println("host "
                + Class.forName("org.rocksdb.RocksDB")
                        .getProtectionDomain()
                        .getCodeSource()
                        .getLocation());
        System.out.println("guava "
                + Class.forName("com.google.common.base.Joiner")
                        .getProtectionDomain()
                        .getCodeSource()
                        .getLocation());
        for (String hidden : new String[] {
            "com.github.luben.zstd.Zstd", "org.opendedup.sar.volume.chunks.ChunkVolume", "org.slf4j.Logger"
        }) {
            try {
                Class.forName(hidden);
                throw new IllegalStateException("the host sees " + hidden);
            } catch (ClassNotFoundException e) {
                System.out.println("hidden " + hidden);
            }
        }
        System.out.println("both worked");
    }

    /** Opens a database, writes and reads it, has a failure, and asks for a histogram. */
    private static String hostsRocksDb(Path folder, int round) throws Exception {
        Class<?> database = Class.forName("org.rocksdb.RocksDB");
        Class<?> options = Class.forName("org.rocksdb.Options");
        database.getMethod("loadLibrary").invoke(null);
        Object with = options.getConstructor().newInstance();
        String failure;
        try {
            database.getMethod("openReadOnly", options, String.class).invoke(null, with, folder + "-none");
            throw new IllegalStateException("a database that is not there was opened");
        } catch (InvocationTargetException e) {
            failure = e.getCause().getClass().getName();
        }
        options.getMethod("setCreateIfMissing", boolean.class).invoke(with, true);
        Object open = database.getMethod("open", options, String.class).invoke(null, with, folder.toString());
        byte[] key = ("key " + round).getBytes();
        database.getMethod("put", byte[].class, byte[].class).invoke(open, key, key);
        byte[] found = (byte[]) database.getMethod("get", byte[].class).invoke(open, key);
        Object files = database.getMethod("getLiveFilesMetaData").invoke(open);
        Class<?> statistics = Class.forName("org.rocksdb.Statistics");
        Class<?> type = Class.forName("org.rocksdb.HistogramType");
        Object histogram = statistics
                .getMethod("getHistogramData", type)
                .invoke(
                        statistics.getConstructor().newInstance(),
                        type.getField("DB_GET").get(null));
        database.getMethod("close").invoke(open);
        return "host's RocksDB: " + new String(found) + ", " + failure + ", "
                + files.getClass().getSimpleName() + ", " + histogram.getClass().getSimpleName();
    }
}
