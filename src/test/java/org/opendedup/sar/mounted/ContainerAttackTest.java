package org.opendedup.sar.mounted;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.container.PackedContainer;
import org.opendedup.sar.disks.Bytes;
import org.opendedup.sar.disks.Commands;

/**
 * Missing, truncated or corrupted packs and containers, or those of another volume: errors for their bytes, and other
 * data is readable.
 */
class ContainerAttackTest {
    private static final int FILES = 10;
    private static final int FEW_FILES = 3;
    /** Length of a file: two containers, so that a pack has several. */
    private static final int FILE_BYTES = 8 << 20;

    private static final int BLOCK_BYTES = 4096;
    private static final int HEADER_BYTES = 32;
    private static final int FOOTER_BYTES = 48;
    private static final Bytes.Comparison WHOLE = new Bytes.Comparison(FILES * FILE_BYTES / BLOCK_BYTES, 0, 0);
    /** Maximum time that the log takes to name the files of new damage: it is written beside the reads. */
    private static final long LOG_NANOS = TimeUnit.SECONDS.toNanos(60);

    @TempDir
    Path folder;

    @Test
    void eachKindOfDamageCostsItsOwnBytesAndNoOthers() throws IOException {
        try (MountedVolume volume = MountedVolume.make(folder.resolve("attacked"))) {
            Path foreign = containersOfAnotherVolume();
            volume.mount();
            write(volume.mountPoint(), "file-", 0, FILES);
            volume.unmount();
            anotherDisksDataIsRefusedAndStaysAsItIs(volume, foreign);
            packsAndContainersThatTheVolumeDoesNotKnowHarmNothingAndStay(volume, foreign);

            Attack attack = Attack.on(volume.data(), foreign);
            volume.mount();
            checkCost(volume, attack);
            PackedContainer exchanged = attack.gone().get(0);
            assertLogNames(volume, "container " + exchanged.id(), "/file-0");
            Path missing = attack.gone().get(1).pack();
            assertLogNames(volume, "pack " + volume.data().relativize(missing), "/file-1");
            volume.unmount();
            Commands.succeed("rm", "-rf", volume.hashDb());
            volume.mount();
            checkCost(volume, attack);
            writingTheSameAgainIsWhole(volume);
        }
    }

    private static void checkCost(MountedVolume volume, Attack attack) throws IOException {
        Bytes.Comparison found = compare(volume.mountPoint(), "file-", 0, FILES);
        assertEquals(0, found.wrong(), found::toString);
        assertTrue(found.refused() >= attack.leastBlocks(), () -> "not all was noticed: " + found + " " + attack);
        assertTrue(found.refused() <= attack.mostBlocks(), () -> "more was lost than that: " + found + " " + attack);
    }

    /**
     * Damage of each kind.
     *
     * @param gone containers none of whose frames is left
     * @param harmed containers of which at least one byte is damaged
     */
    private record Attack(List<PackedContainer> gone, List<PackedContainer> harmed) {
        static Attack on(Path data, Path foreign) throws IOException {
            List<Path> packs = PackedContainer.packs(data);
            List<PackedContainer> gone = new ArrayList<>();
            List<PackedContainer> harmed = new ArrayList<>();

            // The range of a container, by that of the same id of another volume.
            PackedContainer exchanged = PackedContainer.of(packs.get(0)).get(0);
            byte[] other = PackedContainer.in(foreign).stream()
                    .filter(container -> container.id() == exchanged.id())
                    .findFirst()
                    .orElseThrow()
                    .read();
            exchanged.overwrite(0, Arrays.copyOf(other, exchanged.bytes()));
            gone.add(exchanged);

            gone.addAll(PackedContainer.of(packs.get(1)));
            Files.delete(packs.get(1));

            gone.addAll(PackedContainer.of(packs.get(2)));
            Path sameName = foreign.resolve(data.relativize(packs.get(2)));
            Files.copy(sameName, packs.get(2), StandardCopyOption.REPLACE_EXISTING);

            List<PackedContainer> partly = PackedContainer.of(packs.get(3));
            PackedContainer last = partly.get(partly.size() - 1);
            Damage.cutOff(packs.get(3), last.offset() + last.bytes() / 2);
            harmed.add(last);

            List<PackedContainer> one = PackedContainer.of(packs.get(4));
            one.get(0).flipBitInFrames();
            one.get(1).overwrite(0, new byte[HEADER_BYTES]);
            harmed.addAll(one.subList(0, 2));

            List<PackedContainer> next = PackedContainer.of(packs.get(5));
            next.get(0).flipBit(next.get(0).directoryOffset() + HEADER_BYTES);
            next.get(1).flipBit(next.get(1).bytes() - FOOTER_BYTES / 2);
            harmed.addAll(next.subList(0, 2));

            // Nothing is in the header of a pack that reading a container needs.
            Damage.overwrite(packs.get(6), 0, new byte[BLOCK_BYTES]);
            harmed.addAll(gone);
            return new Attack(gone, harmed);
        }

        /** The frames of random data take at least nine tenths of a container. */
        long leastBlocks() {
            return bytes(gone) / BLOCK_BYTES * 9 / 10;
        }

        /** The data are not compressible. Files share the first and the last block of a container with others. */
        long mostBlocks() {
            return bytes(harmed) / BLOCK_BYTES + 2 * harmed.size();
        }

        private static long bytes(List<PackedContainer> containers) {
            return containers.stream().mapToLong(PackedContainer::bytes).sum();
        }
    }

    private static void writingTheSameAgainIsWhole(MountedVolume volume) throws IOException {
        write(volume.mountPoint(), "again-", 0, FILES);
        volume.dropKernelCaches();
        assertEquals(WHOLE, compare(volume.mountPoint(), "again-", 0, FILES));
        volume.remount();
        assertEquals(WHOLE, compare(volume.mountPoint(), "again-", 0, FILES));
    }

    @Test
    void theSameDamageToPlainFilesIsSeenAsWrongBytes() throws IOException {
        // The control: the comparison above would detect it.
        Path plain = Files.createDirectory(folder.resolve("plain"));
        write(plain, "file-", 0, FILES);
        Damage.flipBit(plain.resolve("file-1"), FILE_BYTES / 2);
        Damage.cutOff(plain.resolve("file-2"), FILE_BYTES / 2);

        assertEquals(
                1 + FILE_BYTES / 2 / BLOCK_BYTES,
                compare(plain, "file-", 0, FILES).wrong());
    }

    private Path containersOfAnotherVolume() throws IOException {
        try (MountedVolume other = MountedVolume.make(folder.resolve("other"))) {
            other.mount();
            write(other.mountPoint(), "file-", 1000, FEW_FILES);
            other.unmount();
            return other.data();
        }
    }

    /** Waits until the log says that the place cannot be read, and which file that harms. */
    private static void assertLogNames(MountedVolume volume, String place, String file) throws IOException {
        Pattern expected = Pattern.compile("\\b" + Pattern.quote(place) + " cannot be read, found by .*; files: (.*, )?"
                + Pattern.quote(file) + "\\b");
        long deadline = System.nanoTime() + LOG_NANOS;
        String log = Files.readString(volume.log());
        while (!expected.matcher(log).find() && System.nanoTime() < deadline) {
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(50));
            log = Files.readString(volume.log());
        }
        String found = log;
        assertTrue(expected.matcher(found).find(), () -> place + " with " + file + " is not in " + found);
    }

    private static void packsAndContainersThatTheVolumeDoesNotKnowHarmNothingAndStay(MountedVolume volume, Path foreign)
            throws IOException {
        // After the last container: one of another volume with an id that is in use, and random bytes.
        Path own = PackedContainer.packs(volume.data()).get(0);
        long bytes = Files.size(own);
        PackedContainer stranger = PackedContainer.in(foreign).get(0);
        Damage.overwrite(own, (bytes + BLOCK_BYTES - 1) / BLOCK_BYTES * BLOCK_BYTES, stranger.read());
        Damage.overwrite(own, Files.size(own), Bytes.random(1, 100_000));
        List<Path> unknown = Stream.of("fff0", "fff1", "fff2")
                .map(id -> own.resolveSibling("00000000" + id + ".pack"))
                .toList();
        Files.copy(stranger.pack(), unknown.get(0));
        Files.write(unknown.get(1), Bytes.random(2, 100_000));
        Files.write(unknown.get(2), new byte[0]);
        Map<Path, Long> before = packs(volume);

        volume.mount();
        assertEquals(WHOLE, compare(volume.mountPoint(), "file-", 0, FILES));
        Bytes.writeAndSync(volume.mountPoint().resolve("new"), Bytes.random(5000, FILE_BYTES));
        volume.remount();
        Bytes.Comparison found = Bytes.compare(volume.mountPoint().resolve("new"), Bytes.random(5000, FILE_BYTES));
        assertEquals(new Bytes.Comparison(FILE_BYTES / BLOCK_BYTES, 0, 0), found);
        volume.unmount();
        Map<Path, Long> after = packs(volume);
        after.keySet().retainAll(before.keySet());
        assertEquals(before, after);

        Damage.cutOff(own, bytes);
        for (Path file : unknown) {
            Files.delete(file);
        }
    }

    private static Map<Path, Long> packs(MountedVolume volume) throws IOException {
        Map<Path, Long> checksums = Damage.checksums(volume.data());
        checksums.keySet().removeIf(file -> !file.toString().endsWith(".pack"));
        return checksums;
    }

    private void anotherDisksDataIsRefusedAndStaysAsItIs(MountedVolume volume, Path foreign) throws IOException {
        Path away = Files.move(volume.data(), folder.resolve("away"));
        assertEquals(1, volume.tryMount(volume.mountPoint()).exitCode(), "it is missing");
        assertFalse(Files.exists(volume.data()), "nothing is made in its place");
        Path empty = Files.createDirectory(folder.resolve("empty"));
        for (Path wrong : List.of(foreign, empty)) {
            Files.move(wrong, volume.data());
            var before = Damage.checksums(volume.data());

            Commands.Result refused = volume.tryMount(volume.mountPoint());

            assertEquals(1, refused.exitCode(), refused::output);
            assertTrue(refused.output().contains(volume.data().toString()), refused::output);
            assertFalse(volume.isMounted());
            assertEquals(before, Damage.checksums(volume.data()));
            Files.move(volume.data(), wrong);
        }
        Files.move(away, volume.data());
    }

    private static void write(Path target, String prefix, int firstSeed, int files) throws IOException {
        for (int i = 0; i < files; i++) {
            Bytes.writeAndSync(target.resolve(prefix + i), Bytes.random(firstSeed + i, FILE_BYTES));
        }
    }

    private static Bytes.Comparison compare(Path target, String prefix, int firstSeed, int files) throws IOException {
        Bytes.Comparison sum = new Bytes.Comparison(0, 0, 0);
        for (int i = 0; i < files; i++) {
            sum = sum.plus(Bytes.compare(target.resolve(prefix + i), Bytes.random(firstSeed + i, FILE_BYTES)));
        }
        return sum;
    }
}
