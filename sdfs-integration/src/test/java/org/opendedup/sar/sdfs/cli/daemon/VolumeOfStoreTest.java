package org.opendedup.sar.sdfs.cli.daemon;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.UUID;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.MemoryFolder;
import org.opendedup.sar.io.LockFile;
import org.opendedup.sar.io.PrivateFiles;
import org.opendedup.sar.objects.ObjectStore;
import org.opendedup.sar.objects.ObjectStores;
import org.opendedup.sar.objects.ReplaceableObjects;
import org.opendedup.sar.sdfs.cli.command.CommandFailedException;
import org.opendedup.sar.sdfs.cli.command.CommandOutput;
import org.opendedup.sar.sdfs.cli.command.RunFiles;
import org.opendedup.sar.sdfs.config.Definitions;
import org.opendedup.sar.sdfs.config.StoredVolumeFile;
import org.opendedup.sar.sdfs.config.VolumeDefinition;
import org.opendedup.sar.sdfs.config.VolumeFile;
import org.opendedup.sar.sdfs.config.VolumeFileCopy;
import org.opendedup.sar.sdfs.config.VolumeOptions;

/** The volume file of a machine, before a mount of a volume in an object store. */
class VolumeOfStoreTest {
    @MemoryFolder
    Path folder;

    private Path store;
    private String address;
    private VolumeDefinition first;
    private CommandOutput output;

    @BeforeEach
    void makeAVolumeOfAnotherMachine() throws IOException {
        store = Files.createDirectories(folder.resolve("store"));
        address = "file://" + store;
        first = Definitions.inStore("pool", folder.resolve("first"), store);
        try (StoredVolumeFile file = StoredVolumeFile.in(address)) {
            file.create(first);
        }
        output = new CommandOutput(folder.resolve("etc"));
    }

    private Path file() {
        return folder.resolve("etc/pool-volume-cfg.xml");
    }

    private String named(String volume) throws IOException, CommandFailedException {
        return new VolumeOfStore(output.environment(), "mount.sdfs").named(volume, false);
    }

    private void changed(UnaryOperator<VolumeDefinition> change) throws IOException {
        first = StoredVolumeFile.changed(first, change);
    }

    @Test
    void aBareMachineGetsAVolumeFileAndFolders() throws Exception {
        assertEquals("pool", named(address));
        VolumeDefinition made = VolumeFile.read(file());
        Path base = folder.resolve("etc/volumes/pool");
        assertEquals(base, made.basePath());
        for (Path place : made.stores().values()) {
            assertTrue(place.startsWith(base) && Files.isDirectory(place), place::toString);
        }
        assertEquals(address, made.store().store());
        assertTrue(made.store().cacheBytes() > 0);
        assertEquals(first.config().capacityBytes(), made.config().capacityBytes());
        assertTrue(output.err().contains("new on this machine"), output.err());
        Files.writeString(base.resolve("log"), "");
        assertEquals("pool", named(address), "the same machine again");
        assertEquals(made, VolumeFile.read(file()));
    }

    @Test
    void theFoldersOfABareMachineLieBelowItsBasePathWhateverTheStoredFileNames() throws Exception {
        Path other = Files.createDirectories(folder.resolve("elsewhere"));
        try (ObjectStore objects = ObjectStores.open(address)) {
            ReplaceableObjects replaceable = objects.replaceable().orElseThrow();
            String version =
                    replaceable.current(StoredVolumeFile.NAME).orElseThrow().version();
            Path written = folder.resolve("written.xml");
            VolumeFile.write(written, first.withPlaces(place -> other.resolve(place.getFileName())));
            var unused =
                    replaceable.replace(StoredVolumeFile.NAME, version, UUID.randomUUID(), Files.readAllBytes(written));
        }
        assertEquals("pool", named(address));
        VolumeDefinition made = VolumeFile.read(file());
        Path base = folder.resolve("etc/volumes/pool");
        assertEquals(base, made.basePath());
        made.stores().values().forEach(place -> assertTrue(place.startsWith(base), place::toString));
        try (var found = Files.list(other)) {
            assertEquals(0, found.count());
        }
    }

    @Test
    void aMountTakesOverWhatAnotherMachineHasChanged() throws Exception {
        assertEquals("pool", named(address));
        VolumeFile.write(file(), VolumeFile.read(file()).with(VolumeOptions.WRITE_THREADS, 9));
        changed(present -> present.with(VolumeOptions.CAPACITY, 77L << 30));
        assertEquals("pool", named("pool"));
        assertEquals(77L << 30, VolumeFile.read(file()).config().capacityBytes());
        assertEquals(9, VolumeFile.read(file()).config().writeThreads());
        assertTrue(output.err().contains("changed in the object store: --volume-capacity=77GB"), output.err());
        changed(present -> present.with(VolumeOptions.CAPACITY, 78L << 30));
        assertEquals("pool", named(address));
        assertEquals(78L << 30, VolumeFile.read(file()).config().capacityBytes());
    }

    /** A daemon, or a command for an unmounted volume, may be writing the file. */
    @Test
    void theFileStaysAsItIsWhileAnotherProcessHasTheVolume() throws Exception {
        var ofStore = new VolumeOfStore(output.environment(), "mount.sdfs");
        assertEquals("pool", ofStore.named(address, false));
        VolumeDefinition made = VolumeFile.read(file());
        changed(present -> present.with(VolumeOptions.CAPACITY, 77L << 30));
        RunFiles files = output.environment().runFiles(made);
        PrivateFiles.createFolders(files.runFolder());
        try (LockFile daemon = LockFile.tryAcquire(files.lock()).orElseThrow()) {
            assertEquals("pool", ofStore.named("pool", false));
            assertEquals("pool", ofStore.named(address, false));
            assertEquals(made, VolumeFile.read(file()));
        }
        ofStore.again("pool", false);
        assertEquals(77L << 30, VolumeFile.read(file()).config().capacityBytes());
    }

    @Test
    void theNameOfAnotherVolumeIsRefused() throws Exception {
        VolumeDefinition local = Definitions.plain("pool", folder.resolve("local"));
        Files.createDirectories(folder.resolve("etc"));
        VolumeFile.write(file(), local);
        var e = assertThrows(CommandFailedException.class, () -> named(address));
        assertTrue(e.getMessage().contains("SDFS_CONFIG_DIR"), e.getMessage());
        Path other = Files.createDirectories(folder.resolve("other"));
        VolumeFile.write(file(), Definitions.inStore("pool", folder.resolve("local"), other));
        e = assertThrows(CommandFailedException.class, () -> named(address));
        assertTrue(e.getMessage().contains(other.toString()), e.getMessage());
    }

    @Test
    void whatIsInTheWayIsNotUsed() throws Exception {
        Path left = Files.createDirectories(folder.resolve("etc/volumes/pool/ddb"));
        Files.writeString(left.resolve("CURRENT"), "");
        var e = assertThrows(CommandFailedException.class, () -> named(address));
        assertTrue(e.getMessage().contains(left.toString()), e.getMessage());
        assertFalse(e.getMessage().contains("--recover"), e.getMessage());
        assertFalse(Files.exists(file()));
        Path data = Files.createDirectories(folder.resolve("etc/volumes/pool/chunkstore/chunks"));
        Files.writeString(data.resolve(VolumeFileCopy.NAME), "");
        e = assertThrows(CommandFailedException.class, () -> named(address));
        assertTrue(e.getMessage().contains("lacks: mkfs.sdfs --recover " + data), e.getMessage());
        Files.delete(data.resolve(VolumeFileCopy.NAME));
        Files.delete(left.resolve("CURRENT"));
        assertEquals("pool", named(address), "empty folders are of a mount that was interrupted");
        assertTrue(Files.exists(file()));
    }

    @Test
    void aStoreThatIsGoneOrEmptyIsNamed() throws Exception {
        Path empty = Files.createDirectories(folder.resolve("empty"));
        for (String without : new String[] {"file://" + empty, "file://" + folder.resolve("missing")}) {
            IOException e = assertThrows(IOException.class, () -> named(without));
            assertTrue(e.toString().contains(without.substring("file://".length())), e.toString());
        }
        IOException e = assertThrows(IOException.class, () -> named("s3://key:secret@bucket/pool"));
        assertFalse(e.getMessage().contains("secret@"), e.getMessage());
        assertEquals("pool", named(address));
        Files.move(store, folder.resolve("moved"));
        assertThrows(IOException.class, () -> named("pool"));
    }
}
