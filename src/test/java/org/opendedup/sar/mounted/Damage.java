package org.opendedup.sar.mounted;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import java.util.zip.CRC32C;
import org.opendedup.sar.disks.Commands;

/** Damage to files on a disk, and checks for changes. */
final class Damage {
    private Damage() {}

    static void flipBit(Path file, long offset) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            ByteBuffer one = ByteBuffer.allocate(1);
            channel.read(one, offset);
            one.put(0, (byte) (one.get(0) ^ 0x10)).rewind();
            channel.write(one, offset);
        }
    }

    static void overwrite(Path file, long offset, byte[] bytes) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
            channel.write(ByteBuffer.wrap(bytes), offset);
        }
    }

    static void cutOff(Path file, long length) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
            channel.truncate(length);
        }
    }

    /** The files of a folder, at any depth, with this suffix; sorted by path. */
    static List<Path> files(Path folder, String suffix) throws IOException {
        try (Stream<Path> walk = Files.walk(folder)) {
            return walk.filter(Files::isRegularFile)
                    .filter(file -> file.getFileName().toString().endsWith(suffix))
                    .sorted()
                    .toList();
        }
    }

    static Path largest(List<Path> files) throws IOException {
        Path largest = files.get(0);
        for (Path file : files) {
            largest = Files.size(file) > Files.size(largest) ? file : largest;
        }
        return largest;
    }

    /** A checksum of every file of a folder; folders have none. */
    static Map<Path, Long> checksums(Path folder) throws IOException {
        Map<Path, Long> checksums = new TreeMap<>();
        try (Stream<Path> walk = Files.walk(folder)) {
            walk.forEach(path -> checksums.put(path, Files.isRegularFile(path) ? checksum(path) : 0));
        }
        return checksums;
    }

    private static long checksum(Path file) {
        try {
            CRC32C crc = new CRC32C();
            crc.update(Files.readAllBytes(file));
            return crc.getValue();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Makes {@code target} a copy of {@code source}, whatever it was before. */
    static void copyTree(Path source, Path target) throws IOException {
        Commands.succeed("rm", "-rf", target);
        Commands.succeed("cp", "-a", source, target);
    }
}
