package org.opendedup.sar.volume.backup;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.collect.CollectionLimits;
import org.opendedup.sar.collect.CollectionReport;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.volume.GarbageTrial;
import org.opendedup.sar.volume.Volume;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.config.VolumeConfigs;

/** A volume in a folder, and the files that it should have. */
final class BackupTrial {
    final VolumeConfig config;
    final Random random;
    /** The files of the root directory. */
    final Map<String, byte[]> files = new TreeMap<>();

    BackupTrial(Path folder, long seed) throws IOException {
        config = VolumeConfigs.in(folder, 100L << 30, Chunking.SHA256);
        random = new Random(seed);
        Volume.create(config);
    }

    Volume open() throws IOException {
        return Volume.open(config);
    }

    byte[] random(int bytes) {
        byte[] made = new byte[bytes];
        random.nextBytes(made);
        return made;
    }

    /** Stores a file durably. */
    void write(Volume volume, String name, byte[] bytes) throws IOException {
        GarbageTrial.store(volume, name, bytes);
        files.put(name, bytes);
    }

    void remove(Volume volume, String name) throws IOException {
        volume.unlink(Inode.ROOT, name.getBytes(UTF_8));
        volume.sync();
        files.remove(name);
    }

    static CollectionReport collect(Volume volume) throws IOException {
        return volume.collector().collect(new CollectionLimits(0, false), (done, of, returned) -> true);
    }

    /** Returns the files of the database whose names end or begin like that. */
    List<Path> databaseFiles(String part) throws IOException {
        try (Stream<Path> list = Files.list(config.locations().metadata())) {
            return list.filter(file -> Files.isRegularFile(file)
                            && file.getFileName().toString().contains(part))
                    .sorted()
                    .toList();
        }
    }

    /** Flips one bit of a file. */
    void flip(Path file) throws IOException {
        flip(file, (int) Files.size(file));
    }

    /** Flips one bit of the first block of a table. The end of a table has bytes that mean nothing. */
    void flipFirstBlock(Path table) throws IOException {
        flip(table, 64);
    }

    private void flip(Path file, int length) throws IOException {
        byte[] bytes = Files.readAllBytes(file);
        bytes[random.nextInt(length)] ^= (byte) (1 << random.nextInt(8));
        Files.write(file, bytes);
    }
}
