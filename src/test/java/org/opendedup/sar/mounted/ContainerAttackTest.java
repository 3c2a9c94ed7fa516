package org.opendedup.sar.mounted;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Missing, truncated or corrupted containers, or those of another volume: errors for their bytes, and other data is
 * readable.
 */
class ContainerAttackTest {
    private static final int FILES = 10;
    private static final int FEW_FILES = 3;
    private static final int FILE_BYTES = 4 << 20;
    private static final int HEADER_BYTES = 32;
    private static final int FOOTER_BYTES = 48;
    /** Number of containers to damage: fewer than there are. */
    private static final int DAMAGES = 7;

    @TempDir
    Path folder;

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void eachKindOfDamageCostsItsOwnBytesAndNoOthers(boolean indexKept) throws IOException {
        try (MountedVolume volume = MountedVolume.make(Files.createDirectory(folder.resolve("attacked")))) {
            Path foreign = containersOfAnotherVolume();
            volume.mount();
            write(volume.mountPoint(), "file-", 0, FILES);
            volume.unmount();
            List<Path> containers = Damage.files(volume.data(), ".container");
            assertTrue(containers.size() > DAMAGES, containers::toString);
            attack(containers, volume.data(), foreign);
            if (!indexKept) {
                Commands.succeed("rm", "-rf", volume.hashDb());
            }

            volume.mount();
            Bytes.Comparison found = compare(volume.mountPoint(), "file-", 0, FILES);

            assertEquals(0, found.wrong(), found::toString);
            assertTrue(found.refused() > 0, () -> "nothing was noticed: " + found);
            int most = (DAMAGES + 1) * FILE_BYTES / 4096;
            assertTrue(found.refused() < most, () -> "more was lost than was damaged: " + found);
            assertLogNames(volume, containers.get(0));
            assertLogNames(volume, containers.get(6));
            writingTheSameAgainIsWhole(volume);
        }
    }

    private static void writingTheSameAgainIsWhole(MountedVolume volume) throws IOException {
        write(volume.mountPoint(), "again-", 0, FILES);
        MountedVolume.dropKernelCaches();
        assertEquals(whole(FILES), compare(volume.mountPoint(), "again-", 0, FILES));
        volume.remount();
        assertEquals(whole(FILES), compare(volume.mountPoint(), "again-", 0, FILES));
    }

    @Test
    void theSameDamageToPlainFilesIsSeenAsWrongBytes() throws IOException {
        // The control: the comparison above would detect it.
        Path plain = Files.createDirectory(folder.resolve("plain"));
        write(plain, "file-", 0, FILES);
        Damage.flipBit(plain.resolve("file-1"), FILE_BYTES / 2);
        Damage.cutOff(plain.resolve("file-2"), FILE_BYTES / 2);

        assertEquals(
                1 + FILE_BYTES / 2 / 4096, compare(plain, "file-", 0, FILES).wrong());
    }

    private Path containersOfAnotherVolume() throws IOException {
        try (MountedVolume other = MountedVolume.make(Files.createDirectory(folder.resolve("other")))) {
            other.mount();
            write(other.mountPoint(), "file-", 1000, FEW_FILES);
            other.unmount();
            return other.data();
        }
    }

    private static void attack(List<Path> containers, Path data, Path foreign) throws IOException {
        Files.delete(containers.get(6));
        Damage.cutOff(containers.get(1), Files.size(containers.get(1)) / 2);
        Damage.flipBit(containers.get(2), 9);
        Damage.flipBit(containers.get(3), Files.size(containers.get(3)) / 2);
        // The directory is small and lies just before the footer.
        Damage.flipBit(containers.get(4), Files.size(containers.get(4)) - FOOTER_BYTES - HEADER_BYTES);
        Damage.flipBit(containers.get(5), Files.size(containers.get(5)) - FOOTER_BYTES / 2);
        Path replaced = containers.get(0);
        Files.copy(foreign.resolve(data.relativize(replaced)), replaced, StandardCopyOption.REPLACE_EXISTING);
    }

    private static void assertLogNames(MountedVolume volume, Path container) throws IOException {
        String name = container.getFileName().toString();
        String id = Long.toString(Long.parseLong(name.substring(0, name.indexOf('.')), 16));
        String log = Files.readString(volume.log());
        assertTrue(
                log.lines().anyMatch(line -> line.contains("container " + id + ",") && line.contains("inode ")),
                () -> "container " + id + " is not in " + log);
    }

    @Test
    void whatLooksLikeAnUnsealedContainerHarmsNoSealedOne() throws IOException {
        try (MountedVolume volume = MountedVolume.make(Files.createDirectory(folder.resolve("garbage")))) {
            Path foreign = containersOfAnotherVolume();
            volume.mount();
            write(volume.mountPoint(), "file-", 0, FEW_FILES);
            volume.unmount();
            List<Path> sealed = Damage.files(volume.data(), ".container");
            Files.copy(foreign.resolve(volume.data().relativize(sealed.get(0))), unsealed(sealed.get(0)));
            Files.write(unsealed(sealed.get(1)), Bytes.random(1, 100_000));
            Path unused = Files.createDirectories(volume.data().resolve("ff"));
            Files.write(unused.resolve("0000000000ff.open"), Bytes.random(2, 100_000));
            Files.write(unused.resolve("0000000001ff.open"), new byte[0]);

            volume.mount();

            assertEquals(whole(FEW_FILES), compare(volume.mountPoint(), "file-", 0, FEW_FILES));
            assertTrue(Files.exists(sealed.get(0)));
        }
    }

    private static Path unsealed(Path container) {
        return container.resolveSibling(container.getFileName().toString().replace(".container", ".open"));
    }

    private static Bytes.Comparison whole(int files) {
        return new Bytes.Comparison(files * (FILE_BYTES / 4096), 0, 0);
    }

    @Test
    void anotherDisksDataIsRefusedAndStaysAsItIs() throws IOException {
        try (MountedVolume volume = MountedVolume.make(Files.createDirectory(folder.resolve("own")))) {
            Path foreign = containersOfAnotherVolume();
            volume.mount();
            write(volume.mountPoint(), "file-", 0, FEW_FILES);
            volume.unmount();
            Path away = Files.move(volume.data(), folder.resolve("away"));
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
            volume.mount();
            assertEquals(whole(FEW_FILES), compare(volume.mountPoint(), "file-", 0, FEW_FILES));
        }
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
