package org.opendedup.sar.sdfs.cli;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringReader;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.AbstractMap;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.io.LockFile;
import org.opendedup.sar.io.PrivateFiles;
import org.opendedup.sar.keys.Argon2Cost;
import org.opendedup.sar.metadata.remote.Promise;
import org.opendedup.sar.sdfs.cli.command.CommandRunner;
import org.opendedup.sar.sdfs.cli.command.Environment;
import org.opendedup.sar.sdfs.cli.command.ExitCode;
import org.opendedup.sar.sdfs.cli.control.ControlServer;
import org.opendedup.sar.sdfs.cli.removal.VolumeRemoval;
import org.opendedup.sar.sdfs.config.ConfigDirectory;
import org.opendedup.sar.sdfs.config.VolumeDefinition;
import org.opendedup.sar.sdfs.config.VolumeFile;
import org.opendedup.sar.sdfs.config.VolumeOptions;
import org.opendedup.sar.volume.Volume;
import org.opendedup.sar.volume.config.HeldUntil;
import org.opendedup.sar.volume.config.VolumeConfig;

/** Removes real volumes, which were never mounted. Those that were used: DestroyTest in src/test. */
@Timeout(120)
class DestroyCommandTest {
    @TempDir
    Path folder;

    private final Map<String, String> variables = new HashMap<>();
    private Path base;
    private Path ssd;
    private StringWriter out;
    private StringWriter err;

    @BeforeEach
    void choosePlaces() {
        base = folder.resolve("base");
        ssd = folder.resolve("ssd");
        variables.put("SDFS_CONFIG_DIR", folder.resolve("etc").toString());
    }

    private void make(String... more) throws IOException {
        String[] arguments = Stream.concat(
                        Stream.of(
                                "pool0",
                                base.toString(),
                                "--sar-ssd-location=" + ssd,
                                "--sar-ssd-capacity=100MB",
                                "--volume-capacity=1GB",
                                "--tier-mode=tddfs",
                                "--tddfs-journal=5"),
                        Stream.of(more))
                .toArray(String[]::new);
        assertEquals(ExitCode.OK, MkfsProgram.run(environment(""), arguments), () -> err.toString());
    }

    private Environment environment(String typed) {
        out = new StringWriter();
        err = new StringWriter();
        return new Environment(
                variables,
                new PrintWriter(out, true),
                new PrintWriter(err, true),
                false,
                new StringReader(typed),
                question -> null,
                () -> new Argon2Cost(64, 1, 1));
    }

    private int destroy(String typed, String... options) {
        Environment environment = environment(typed);
        String[] words =
                Stream.concat(Stream.of("pool0", "destroy"), Stream.of(options)).toArray(String[]::new);
        return CommandRunner.run(new SdfsCli(environment), environment, words);
    }

    /** The files below the test's folder, and links. */
    private Set<String> files() throws IOException {
        try (Stream<Path> all = Files.walk(folder)) {
            return all.filter(path -> !Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS))
                    .map(path -> folder.relativize(path).toString())
                    .collect(Collectors.toCollection(TreeSet::new));
        }
    }

    @Test
    void removesAllOfAVolumeWhenItsNameIsTyped() throws IOException {
        make();
        Set<String> before = files();
        for (String typed : List.of("", "\n", "pool\n", "yes\n")) {
            assertEquals(ExitCode.FAILED, destroy(typed), typed);
            assertTrue(err.toString().contains("the name was not typed; nothing was removed"), err::toString);
        }
        before.add("base/run/pool0.lock");
        assertEquals(before, files());
        for (String told : List.of(
                "This removes the volume pool0",
                "containers",
                base + "/chunkstore/chunks",
                ssd.toString(),
                "etc/pool0-volume-cfg.xml")) {
            assertTrue(err.toString().contains(told), err::toString);
        }
        assertEquals(ExitCode.OK, destroy("pool0\n"), err::toString);
        assertTrue(out.toString().startsWith("Removed the volume pool0: "), out::toString);
        assertEquals(Set.of(), files());
        assertFalse(Files.exists(base));
        assertFalse(Files.exists(ssd));
        assertEquals(ExitCode.NO_SUCH_VOLUME, destroy("pool0\n"));
        make();
    }

    /** The control is the same volume after its last mount has ended in order. */
    @Test
    void aVolumeInAStoreStaysThereAndHereWhileTheStoreMayLackSomething() throws IOException {
        Path store = Files.createDirectories(folder.resolve("store"));
        String[] arguments = {
            "pool0", base.toString(), "--volume-capacity=1GB", "--object-store=file://" + store, "--encrypt"
        };
        variables.put("SDFS_PASSPHRASE", "secret");
        assertEquals(ExitCode.OK, MkfsProgram.run(environment(""), arguments), () -> err.toString());
        Set<String> stored = files();
        stored.removeIf(file -> !file.startsWith("store/"));
        VolumeDefinition definition = VolumeFile.read(folder.resolve("etc/pool0-volume-cfg.xml"));
        Path end = environment("").runFiles(definition).lastEnd();
        PrivateFiles.createFolders(end.getParent());
        Files.writeString(end, "{\"pid\":1,\"at\":\"2026-01-01T00:00:00Z\"}");
        assertEquals(ExitCode.FAILED, destroy("pool0\n"));
        assertTrue(err.toString().contains("Mount and unmount the volume first"), err::toString);
        // What the last mount promised is not known any more.
        VolumeFile.write(
                folder.resolve("etc/pool0-volume-cfg.xml"), definition.with(VolumeOptions.DURABILITY, Promise.REMOTE));
        assertEquals(ExitCode.FAILED, destroy("pool0\n"));
        Files.delete(end);
        assertEquals(ExitCode.OK, destroy("pool0\n"), err::toString);
        assertTrue(err.toString().contains("it stays in file://" + store), err::toString);
        assertEquals(stored, files());
    }

    /** The control is the same volume when the time is over. */
    @Test
    void aVolumeWithAHeldSnapshotStays() throws Exception {
        make();
        VolumeConfig config = VolumeRemoval.of(
                        new ConfigDirectory(folder.resolve("etc")), "pool0", environment("")::runFiles)
                .runFiles()
                .definition()
                .config();
        long now = System.currentTimeMillis();
        try (Volume volume = Volume.open(config)) {
            volume.snapshots().create("held", now + 60_000, false);
            volume.snapshots().hold("held", now + 3_600_000);
            volume.snapshots().create("free", 0, false);
        }
        assertEquals(ExitCode.FAILED, destroy("", "--yes"));
        assertTrue(err.toString().contains("is held until " + Instant.ofEpochMilli(now + 3_600_000)), err::toString);
        assertTrue(files().contains("base/ddb/" + HeldUntil.NAME), files()::toString);
        Files.writeString(base.resolve("ddb/" + HeldUntil.NAME), now - 1 + "\n");
        assertEquals(ExitCode.OK, destroy("", "--yes"), err::toString);
        assertEquals(Set.of(), files());
    }

    @Test
    void leavesWhatIsNotTheVolumes() throws IOException {
        make();
        Path elsewhere = Files.createDirectories(folder.resolve("elsewhere"));
        Files.writeString(elsewhere.resolve("123456.sst"), "kept");
        Path data = base.resolve("chunkstore/chunks");
        Files.createSymbolicLink(data.resolve("metadata-backups"), elsewhere);
        Files.createSymbolicLink(data.resolve("ballast.new"), elsewhere.resolve("123456.sst"));
        Files.createSymbolicLink(base.resolve("ddb/check"), elsewhere);
        Path segments = Files.createDirectories(ssd.resolve("segments"));
        Files.createSymbolicLink(segments.resolve("00007.segment"), elsewhere.resolve("123456.sst"));
        Files.writeString(base.resolve("notes.txt"), "kept");
        Files.createDirectory(base.resolve("chunkstore/photos"));
        Files.writeString(data.resolve("deadbeef"), "kept");
        Files.createDirectories(data.resolve("0badcafe"));
        Files.writeString(data.resolve("0badcafe/mine.pack"), "kept");
        assertEquals(ExitCode.OK, destroy("", "--yes"), err::toString);
        assertEquals(
                Set.of(
                        "base/chunkstore/chunks/0badcafe/mine.pack",
                        "base/chunkstore/chunks/ballast.new",
                        "base/chunkstore/chunks/deadbeef",
                        "base/chunkstore/chunks/metadata-backups",
                        "base/ddb/check",
                        "base/notes.txt",
                        "elsewhere/123456.sst",
                        "ssd/segments/00007.segment"),
                files());
        assertTrue(Files.isDirectory(base.resolve("chunkstore/photos")));
        assertTrue(out.toString().contains("Not of the volume: "), out::toString);
        assertTrue(out.toString().contains(base.resolve("notes.txt").toString()), out::toString);
    }

    /** The control is the last round, in which nothing breaks off. */
    @Test
    void whatBrokeOffIsFinishedByTheSameCommand() throws Exception {
        for (int step = 0; ; step += 3) {
            make();
            int breaksAt = step;
            var removal =
                    VolumeRemoval.of(new ConfigDirectory(folder.resolve("etc")), "pool0", environment("")::runFiles);
            try {
                removal.remove(0, (files, of) -> {
                    if (files == breaksAt + 1) {
                        throw new IllegalStateException("a crash");
                    }
                });
                break;
            } catch (IllegalStateException e) {
                assertEquals("a crash", e.getMessage());
            }
            // No other command finds it meanwhile.
            Environment environment = environment("");
            assertEquals(ExitCode.NO_SUCH_VOLUME, CommandRunner.run(new SdfsCli(environment), environment, "pool0"));
            assertTrue(err.toString().contains("to finish that: sdfscli pool0 destroy"), err::toString);
            assertEquals(
                    ExitCode.FAILED,
                    MkfsProgram.run(
                            environment(""), "pool0", folder.resolve("other").toString()));
            assertTrue(err.toString().contains("is being removed"), err::toString);
            assertEquals(ExitCode.OK, destroy("pool0\n"), err::toString);
            assertTrue(err.toString().contains("This finishes the removal"), err::toString);
            assertEquals(Set.of(), files());
            assertTrue(step < 200);
        }
        assertEquals(Set.of(), files());
    }

    /** A second name of each copy shows what its blocks have when the copy is gone. */
    @Test
    void overwritesBothCopiesOfTheKeyHeaderBeforeAllElse() throws Exception {
        variables.put("SDFS_PASSPHRASE", "correct horse");
        make("--encrypt");
        List<Path> copies = List.of(base.resolve("chunkstore/chunks/volume.keys"), base.resolve("ddb/volume.keys"));
        Path unfinished = Files.copy(copies.get(0), base.resolve("ddb/volume.keys.new"));
        byte[] header = Files.readAllBytes(copies.get(0));
        List<Path> blocks = List.of(folder.resolve("a"), folder.resolve("b"), folder.resolve("c"));
        Files.createLink(blocks.get(0), copies.get(0));
        Files.createLink(blocks.get(1), copies.get(1));
        Files.createLink(blocks.get(2), unfinished);
        assertEquals(ExitCode.FAILED, destroy("no\n"));
        assertTrue(err.toString().contains("overwritten before all else"), err::toString);
        for (Path block : blocks) {
            assertArrayEquals(header, Files.readAllBytes(block), "the control: nothing was removed");
        }

        Set<String> before = files();
        var removal = VolumeRemoval.of(new ConfigDirectory(folder.resolve("etc")), "pool0", environment("")::runFiles);
        assertThrows(
                IllegalStateException.class,
                () -> removal.remove(0, (files, of) -> {
                    throw new IllegalStateException("a crash at the first file");
                }));
        for (Path block : blocks) {
            byte[] left = Files.readAllBytes(block);
            assertEquals(header.length, left.length);
            for (int at = 0; at + 8 <= left.length; at++) {
                assertFalse(Arrays.equals(header, at, at + 8, left, at, at + 8), block + " has its bytes at " + at);
            }
        }
        Set<String> after = files();
        assertTrue(after.stream().noneMatch(name -> name.contains("volume.keys")), after::toString);
        assertTrue(after.size() >= before.size() - 4, "the rest is there: " + after);

        assertEquals(ExitCode.OK, destroy("", "--yes"), err::toString);
        assertTrue(out.toString().contains("The key header was overwritten first"), out::toString);
        assertEquals(Set.of("a", "b", "c"), files());
    }

    @Test
    void refusesWhatIsInUseMissingOrAnothers() throws IOException {
        make();
        Set<String> before = files();
        Path run = base.resolve("run");
        PrivateFiles.createFolders(run);
        try (LockFile daemon = LockFile.tryAcquire(run.resolve("pool0.lock")).orElseThrow()) {
            assertEquals(ExitCode.FAILED, destroy("", "--yes"));
            assertTrue(err.toString().contains("is in use by another process"), err::toString);
        }
        Path data = base.resolve("chunkstore/chunks");
        Path away = Files.move(data, folder.resolve("away"));
        assertEquals(ExitCode.FAILED, destroy("", "--yes"));
        assertTrue(err.toString().contains("there are no containers of the volume in " + data), err::toString);
        PrivateFiles.createFolders(data);
        assertEquals(ExitCode.FAILED, destroy("", "--yes"), "the mount point of a disk that is not mounted");
        Files.delete(data);
        Files.move(away, data);

        Path identity = data.resolve("volume.id");
        String right = Files.readString(identity);
        Files.writeString(identity, "01234567-89ab-cdef-0123-456789abcdef" + right.substring(36));
        assertEquals(ExitCode.FAILED, destroy("", "--yes"));
        assertTrue(err.toString().contains("is another volume's"), err::toString);
        Files.writeString(identity, right);

        Path etc = folder.resolve("etc");
        Path file = etc.resolve("pool0-volume-cfg.xml");
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxr-xr-x"));
        Files.setPosixFilePermissions(etc, PosixFilePermissions.fromString("rwxr-xr-x"));
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-rw-rw-"));
        assertEquals(ExitCode.FAILED, destroy("", "--yes"));
        assertTrue(err.toString().contains("chmod go-w " + file), err::toString);
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r--r--"));
        before.add("base/run/pool0.lock");
        assertEquals(before, files());
        assertEquals(ExitCode.OK, destroy("", "--yes"), "the control");
        assertThrows(IOException.class, () -> new ConfigDirectory(folder.resolve("etc")).read("pool0"));
    }

    /** The control of each is that of {@link #refusesWhatIsInUseMissingOrAnothers}. */
    @Test
    void refusesLocationsThatAVolumeFileNamesWrongly() throws IOException {
        make();
        Path file = folder.resolve("etc/pool0-volume-cfg.xml");
        String right = Files.readString(file);
        Path other = folder.resolve("other");
        assertEquals(ExitCode.OK, MkfsProgram.run(environment(""), "pool1", other.toString(), "--volume-capacity=1GB"));
        // Another volume's metadata as the index, of which no file says whose it is.
        Files.writeString(
                file, right.replace("\"" + base.resolve("chunkstore/hdb") + "\"", "\"" + other.resolve("ddb") + "\""));
        assertFalse(Files.readString(file).equals(right), right);
        Set<String> before = files();
        assertEquals(ExitCode.FAILED, destroy("", "--yes"));
        assertTrue(err.toString().contains(other.resolve("ddb") + " is another volume's"), err::toString);
        // A database of another program as the metadata.
        Path database = Files.createDirectory(folder.resolve("database"));
        Files.writeString(database.resolve("123456.sst"), "kept");
        before.add("database/123456.sst");
        Files.writeString(file, right.replace("\"" + base.resolve("ddb") + "\"", "\"" + database + "\""));
        assertEquals(ExitCode.FAILED, destroy("", "--yes"));
        assertTrue(err.toString().contains("does not say that it is this volume's"), err::toString);
        assertEquals(before, files());
    }

    /** As when a copy of its volume file is mounted, which has another lock. */
    @Test
    void refusesFoldersThatAreInUseUnderAnotherName() throws IOException {
        make();
        for (String lock : List.of("base/ddb/ACKNOWLEDGED", "base/chunkstore/hdb/LOCK", "ssd/sar.lock")) {
            Files.createDirectories(folder.resolve(lock).getParent());
            try (LockFile held = LockFile.tryAcquire(folder.resolve(lock)).orElseThrow()) {
                Set<String> before = files();
                assertEquals(ExitCode.FAILED, destroy("", "--yes"), lock);
                assertTrue(err.toString().contains("in use by another process, which holds"), err::toString);
                before.add("base/run/pool0.lock");
                assertEquals(before, files());
            }
        }
        assertEquals(ExitCode.OK, destroy("", "--yes"), "the control");
        assertEquals(Set.of(), files());
    }

    @Test
    void theRestOfARemovalTakesNothingOfALaterVolume() throws Exception {
        make();
        Path begun = new ConfigDirectory(folder.resolve("etc")).beingRemoved("pool0");
        String removed = Files.readString(folder.resolve("etc/pool0-volume-cfg.xml"));
        assertEquals(ExitCode.OK, destroy("", "--yes"), err::toString);
        // It broke off at its end, or the disk of the containers is not mounted now.
        String[] later = {
            "pool1",
            folder.resolve("other").toString(),
            "--sar-ssd-location=" + ssd,
            "--sar-ssd-capacity=100MB",
            "--volume-capacity=1GB"
        };
        assertEquals(ExitCode.OK, MkfsProgram.run(environment(""), later), () -> err.toString());
        Files.writeString(begun, removed);
        Set<String> before = files();
        assertTrue(before.stream().anyMatch(name -> name.startsWith("ssd/")), before::toString);
        assertEquals(ExitCode.FAILED, destroy("", "--yes"), out::toString);
        assertTrue(err.toString().contains("nothing says whose files those in " + ssd), err::toString);
        assertEquals(before, files());
        Files.move(ssd, folder.resolve("away"));
        assertEquals(ExitCode.OK, destroy("", "--yes"), () -> "the control: " + err);
        assertTrue(Files.exists(folder.resolve("etc/pool1-volume-cfg.xml")));
    }

    @Test
    void filesOfAVolumeWithALongerNameStay() throws IOException {
        make();
        PrivateFiles.createFolders(base.resolve("log"));
        Files.writeString(base.resolve("log/pool0.old.log"), "kept");
        for (String own : List.of("pool0.log", "pool0.log.1", "pool0.audit", "pool0.console")) {
            Files.writeString(base.resolve("log").resolve(own), "removed");
        }
        assertEquals(ExitCode.OK, destroy("", "--yes"), err::toString);
        assertEquals(Set.of("base/log/pool0.old.log"), files());
    }

    /** As of a volume of the same name, whose file is in another folder. */
    @Test
    void theSocketOfAnotherVolumeStays() throws IOException {
        make();
        Path run = Files.createDirectories(folder.resolve("run"));
        variables.put("SDFS_RUN_DIR", run.toString());
        Path socket = run.resolve("pool0.sock");
        try (ControlServer other = ControlServer.start(socket, Map.of(), command -> "not known")) {
            assertEquals(ExitCode.OK, destroy("", "--yes"), err::toString);
            assertTrue(Files.exists(socket));
        }
    }

    /** As by add-location in another process, which ends before this one has the lock of the volume. */
    @Test
    void aFolderThatTheVolumeGotMeanwhileIsRemovedWithIt() throws IOException {
        make();
        Path file = folder.resolve("etc/pool0-volume-cfg.xml");
        Path further = folder.resolve("further");
        VolumeDefinition made = VolumeFile.read(file);
        var isAdded = new AtomicBoolean();
        Map<String, String> asked = new AbstractMap<>() {
            @Override
            public Set<Map.Entry<String, String>> entrySet() {
                return variables.entrySet();
            }

            /** The folder of the lock is asked for when the volume file has been read. */
            @Override
            public String getOrDefault(Object name, String otherwise) {
                if (name.equals("SDFS_RUN_DIR") && !isAdded.getAndSet(true)) {
                    addLocation(file, made, further);
                }
                return variables.getOrDefault(name, otherwise);
            }
        };
        out = new StringWriter();
        err = new StringWriter();
        var environment = new Environment(asked, new PrintWriter(out, true), new PrintWriter(err, true));
        int code = CommandRunner.run(new SdfsCli(environment), environment, "pool0", "destroy", "--yes");
        assertEquals(ExitCode.OK, code, err::toString);
        assertTrue(isAdded.get());
        assertEquals(Set.of(), files());
        assertFalse(Files.exists(further));
    }

    private static void addLocation(Path file, VolumeDefinition definition, Path further) {
        try {
            Volume.prepareDataLocation(definition.config().locations().data(), further);
            VolumeFile.write(file, definition.withFurtherLocation(further));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
