package org.opendedup.sar.sdfs.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.opendedup.sar.MemoryFolder;

/** The volume file in an object store, and what machines take from it and write to it. */
class StoredVolumeFileTest {
    @MemoryFolder
    Path folder;

    private Path store;
    private VolumeDefinition first;

    @BeforeEach
    void makeStore() throws IOException {
        store = Files.createDirectories(folder.resolve("store"));
        first = new VolumeDefinition(Definitions.inStore("pool", folder.resolve("first"), store)
                .values()
                .with(VolumeOptions.SSD_CAPACITY, 1L << 30)
                .with(VolumeOptions.SSD_LOCATION, folder.resolve("ssd")));
    }

    private StoredVolumeFile open() throws IOException {
        return StoredVolumeFile.in("file://" + store);
    }

    private VolumeDefinition made() throws IOException {
        try (StoredVolumeFile file = open()) {
            file.requireUsable();
            file.create(first);
            return file.read();
        }
    }

    @Test
    void itHasEverythingButThePlacesOfTheMachine() throws IOException {
        VolumeDefinition stored = made();
        assertEquals(Path.of("/opt/sdfs/volumes/pool"), stored.basePath());
        assertTrue(stored.stores().values().stream().allMatch(place -> place.startsWith(stored.basePath())));
        assertNull(stored.sar().ssdLocation());
        assertFalse(stored.values().isSet(VolumeOptions.CACHE_SIZE));
        assertEquals(first.config().capacityBytes(), stored.config().capacityBytes());
        assertEquals("file://" + store, stored.store().store());
    }

    @Test
    void aStoreHasOneVolumeAndNothingElse() throws IOException {
        made();
        try (StoredVolumeFile file = open()) {
            IOException e = assertThrows(IOException.class, file::requireUsable);
            assertTrue(e.getMessage().contains("mount.sdfs ADDRESS"), e.getMessage());
        }
        store = Files.createDirectories(folder.resolve("other"));
        try (StoredVolumeFile file = open()) {
            assertThrows(NoSuchVolumeException.class, file::read);
        }
    }

    @Test
    void whatIsTheSameOnAllMachinesIsChangedThereAndTheRestIsNot() throws IOException {
        VolumeDefinition before = made();
        VolumeDefinition changed = StoredVolumeFile.changed(
                first,
                present -> present.with(VolumeOptions.CAPACITY, 20L << 30).with(VolumeOptions.WRITE_THREADS, 7));
        assertEquals(20L << 30, changed.config().capacityBytes());
        assertEquals(7, changed.config().writeThreads());
        assertEquals(first.stores(), changed.stores());
        VolumeDefinition other = Definitions.inStore("pool", folder.resolve("second"), store);
        try (StoredVolumeFile file = open()) {
            assertEquals(before.with(VolumeOptions.CAPACITY, 20L << 30), file.read());
            assertEquals(other.with(VolumeOptions.CAPACITY, 20L << 30), file.newest(other));
        }
    }

    @Test
    void aChangeGoesOnFromThatOfAnotherMachine() throws IOException {
        made();
        assertEquals(80, change(VolumeOptions.MAXIMUM_FULL, 80).config().maximumFullPercentage());
        VolumeDefinition changed =
                StoredVolumeFile.changed(first, present -> present.with(VolumeOptions.CAPACITY, 20L << 30));
        assertEquals(80, changed.config().maximumFullPercentage());
        assertEquals(20L << 30, changed.config().capacityBytes());
        // While the change is made on what was read, another machine replaces that.
        var calls = new AtomicInteger();
        changed = StoredVolumeFile.changed(changed, present -> {
            if (calls.incrementAndGet() == 2) {
                var ofOther = change(VolumeOptions.MAXIMUM_FULL, 70);
                assertEquals(70, ofOther.config().maximumFullPercentage());
            }
            return present.with(VolumeOptions.CAPACITY, 30L << 30);
        });
        assertEquals(3, calls.get());
        assertEquals(70, changed.config().maximumFullPercentage());
        assertEquals(30L << 30, changed.config().capacityBytes());
    }

    private <T> VolumeDefinition change(VolumeOption<T> option, T value) {
        try {
            return StoredVolumeFile.changed(
                    Definitions.inStore("pool", folder.resolve("second"), store),
                    present -> present.with(option, value));
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void whatAVolumeIsMadeWithIsNotTakenFromTheStore() throws IOException {
        made();
        VolumeDefinition other =
                Definitions.inStore("pool", folder.resolve("second"), store).with(VolumeOptions.ENCRYPTED, true);
        try (StoredVolumeFile file = open()) {
            IOException e = assertThrows(IOException.class, () -> file.newest(other));
            assertTrue(e.getMessage().contains("--encrypt"), e.getMessage());
        }
    }

    @Test
    void aChangeOfThisMachineAsksNoStore() throws IOException {
        VolumeDefinition changed =
                StoredVolumeFile.changed(first, present -> present.with(VolumeOptions.WRITE_THREADS, 7));
        assertEquals(7, changed.config().writeThreads(), "and there is no volume in the store");
        assertThrows(
                NoSuchVolumeException.class,
                () -> StoredVolumeFile.changed(first, present -> present.with(VolumeOptions.CAPACITY, 20L << 30)));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "pool",
                "/srv/pool",
                "s3://key:secret@bucket/pool",
                "s3://key@bucket/pool",
                "s3://bucket/pool?secret-access-key=abc",
                "s3://bucket/pool?region=x&AWS_SESSION_TOKEN=abc",
                "s3://bucket/pool#part",
                "s3://bucket/po ol"
            })
    void anAddressHasNoCredentials(String address) {
        var e = assertThrows(IllegalArgumentException.class, () -> StoreAddress.checked(address));
        assertFalse(e.getMessage().contains("abc") || e.getMessage().contains("key:secret"), e.getMessage());
    }

    @Test
    void aFolderOfTheMachineIsNoPartOfTheStore() {
        Path data = first.config().locations().data();
        for (Path in : List.of(data, data.resolve("store"), first.basePath(), folder)) {
            for (String address : List.of("file://" + in, "FILE://" + in + "/", "file:///x/.." + in)) {
                var e = assertThrows(
                        IllegalArgumentException.class, () -> first.with(VolumeOptions.OBJECT_STORE, address), address);
                assertTrue(e.getMessage().contains("must not lie in each other"), e.getMessage());
            }
        }
        assertEquals(
                "file://" + folder.resolve("beside"),
                first.with(VolumeOptions.OBJECT_STORE, "file://" + folder.resolve("beside"))
                        .store()
                        .store());
    }

    @Test
    void whatWorksInFoldersOnlyIsRefused() {
        for (VolumeOption<?> option :
                List.of(VolumeOptions.BACKUP_INTERVAL, VolumeOptions.FURTHER_LOCATIONS, VolumeOptions.DURABILITY)) {
            VolumeDefinition volume =
                    option == VolumeOptions.DURABILITY ? Definitions.plain("pool", folder.resolve("base")) : first;
            String value = option == VolumeOptions.BACKUP_INTERVAL
                    ? "6h"
                    : option == VolumeOptions.DURABILITY ? "local" : "/x";
            assertThrows(
                    IllegalArgumentException.class,
                    () -> new VolumeDefinition(volume.values().withText(option, value)),
                    option::toString);
        }
    }
}
