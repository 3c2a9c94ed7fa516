package org.opendedup.sar.sdfs.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.sdfs.cli.command.CommandOutput;
import org.opendedup.sar.sdfs.cli.command.ExitCode;
import org.opendedup.sar.sdfs.config.ConfigDirectory;
import org.opendedup.sar.sdfs.config.VolumeDefinition;
import org.opendedup.sar.sdfs.config.VolumeFile;
import org.opendedup.sar.sdfs.config.VolumeFileCopy;
import org.opendedup.sar.volume.config.VolumeConfig;

/** The command on volumes on the disk, without a mount. */
class RecoverCommandTest {
    @TempDir
    Path folder;

    private CommandOutput output;
    private Path base;
    private VolumeDefinition made;

    @BeforeEach
    void makeVolume() throws IOException {
        base = folder.resolve("base");
        made = make("pool0", base);
    }

    private VolumeDefinition make(String name, Path place) throws IOException {
        int code = mkfs(
                "--volume-name=" + name,
                "--volume-capacity=1GB",
                "--memory-budget=256MB",
                "--base-path=" + place,
                "--chunk-store-hashdb-location=" + folder.resolve(name + "-hashdb"),
                "--hash-type=SHA256");
        assertEquals(ExitCode.OK, code, output.err());
        return VolumeFile.read(file(name));
    }

    private int mkfs(String... arguments) {
        output = new CommandOutput(folder.resolve("etc"));
        return MkfsProgram.run(output.environment(), arguments);
    }

    private int recover(Path... locations) {
        return mkfs(Stream.concat(Stream.of("--recover"), Stream.of(locations).map(Path::toString))
                .toArray(String[]::new));
    }

    private Path file(String name) {
        return folder.resolve("etc/" + name + "-volume-cfg.xml");
    }

    private Path data() {
        return made.config().locations().data();
    }

    private Path metadata() {
        return made.config().locations().metadata();
    }

    private void assertRefused(String message, Path... locations) {
        assertEquals(ExitCode.FAILED, recover(locations), output.out());
        assertTrue(output.err().contains(message), output.err());
    }

    /** Its folders may have what the store lacks, so the machine needs its own volume file again. */
    @Test
    void aVolumeInAnObjectStoreHasItsCopyInTheDataLocation() throws IOException {
        Path store = Files.createDirectory(folder.resolve("store"));
        int code = mkfs(
                "stored",
                folder.resolve("stored").toString(),
                "--volume-capacity=1GB",
                "--object-store=file://" + store);
        assertEquals(ExitCode.OK, code, output.err());
        VolumeDefinition stored = VolumeFile.read(file("stored"));
        Files.delete(file("stored"));
        VolumeConfig.Locations locations = stored.config().locations();
        assertFalse(Files.exists(locations.metadata().resolve(VolumeFileCopy.NAME)), "it is exchanged as a whole");
        assertEquals(ExitCode.OK, recover(locations.data()), output.err());
        assertEquals(stored, VolumeFile.read(file("stored")));
    }

    @Test
    void eachOfTheCopiesIsEnoughAndOnlyItsOwnerCanReadIt() throws IOException {
        for (List<Path> named : List.of(List.of(data()), List.of(metadata()), List.of(metadata(), data()))) {
            Files.delete(file("pool0"));
            assertEquals(ExitCode.OK, recover(named.toArray(Path[]::new)), output.err());
            assertEquals(made, VolumeFile.read(file("pool0")));
            assertTrue(output.out().contains("data location: " + data() + "\n"), output.out());
        }
        for (Path location : List.of(data(), metadata())) {
            assertEquals(
                    "rw-------",
                    PosixFilePermissions.toString(
                            Files.getPosixFilePermissions(location.resolve(VolumeFileCopy.NAME))));
        }
    }

    @Test
    void aVolumeFileIsNotReplaced() throws IOException {
        Files.writeString(file("pool0"), "mine");
        assertRefused("has a volume file", data());
        assertRefused("move it away", data());
        assertEquals("mine", Files.readString(file("pool0")));
    }

    @Test
    void locationsThatMovedAreRecordedAsNamed() throws IOException {
        Files.delete(file("pool0"));
        Path chunks = Files.move(data(), folder.resolve("chunks"));
        assertRefused("no containers of the volume in " + data(), metadata());
        assertFalse(Files.exists(file("pool0")));
        assertEquals(ExitCode.OK, recover(chunks), output.err());
        VolumeDefinition found = VolumeFile.read(file("pool0"));
        assertEquals(chunks, found.config().locations().data());
        assertEquals(metadata(), found.config().locations().metadata());
        assertEquals(base, found.basePath());
    }

    @Test
    void aBasePathThatMovedTakesItsFoldersWithIt() throws IOException {
        Files.delete(file("pool0"));
        Path moved = Files.move(base, folder.resolve("moved"));
        assertEquals(ExitCode.OK, recover(moved.resolve(base.relativize(data()))), output.err());
        VolumeDefinition found = VolumeFile.read(file("pool0"));
        assertEquals(moved, found.basePath());
        assertEquals(
                moved.resolve(base.relativize(metadata())),
                found.config().locations().metadata());
        assertEquals(
                made.config().locations().hashDb(), found.config().locations().hashDb());
        assertFalse(output.out().contains("missing"), output.out());
    }

    @Test
    void lostMetadataAreToldWithTheWayBack() throws IOException {
        Files.delete(file("pool0"));
        Files.move(metadata(), folder.resolve("gone"));
        assertEquals(ExitCode.OK, recover(data()), output.err());
        assertTrue(output.out().contains(metadata() + " (missing)"), output.out());
        assertTrue(output.out().contains("sdfs-check pool0 --restore-metadata"), output.out());
    }

    @Test
    void locationsOfDifferentVolumesAreRefused() throws IOException {
        VolumeDefinition other = make("pool1", folder.resolve("base1"));
        Files.delete(file("pool0"));
        assertRefused(
                "belong to different volumes",
                data(),
                other.config().locations().metadata());
        assertRefused("the same location", data(), Files.createSymbolicLink(folder.resolve("link"), data()));
        assertRefused("no copy of a volume file", data(), folder);
        // Another volume's disk is mounted there.
        Files.move(data(), folder.resolve("aside"));
        Files.move(other.config().locations().data(), data());
        assertRefused("belong to volume", metadata());
        assertFalse(Files.exists(file("pool0")));
    }

    @Test
    void aDamagedCopyIsNotUsed() throws IOException {
        Files.delete(file("pool0"));
        Path copy = data().resolve(VolumeFileCopy.NAME);
        String text = Files.readString(copy);
        Files.writeString(copy, text.replace("data location of", "data"));
        assertRefused("does not say of which volume", data());
        Files.writeString(copy, text.substring(0, text.length() / 2));
        assertRefused(copy.toString(), data());
        assertEquals(ExitCode.OK, recover(metadata()), output.err());
        assertEquals(made, VolumeFile.read(file("pool0")));
    }

    /** What the removal has left is no volume: a mount would serve it, and the removal end with its files. */
    @Test
    void aVolumeWhoseRemovalHasBegunStaysWithoutAFile() throws IOException {
        Path begun = new ConfigDirectory(folder.resolve("etc")).beingRemoved("pool0");
        Files.move(file("pool0"), begun);
        assertRefused("finish that first: sdfscli pool0 destroy", data());
        assertFalse(Files.exists(file("pool0")));
        Files.delete(begun);
        assertEquals(ExitCode.OK, recover(data()), "the control: " + output.err());
    }

    @Test
    void aLocationMustBeNamed() {
        assertEquals(ExitCode.USAGE, recover(), output.out());
    }
}
