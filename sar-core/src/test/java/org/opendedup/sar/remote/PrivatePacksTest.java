package org.opendedup.sar.remote;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.container.format.PackFormat;
import org.opendedup.sar.io.Directory;
import org.opendedup.sar.io.FileDirectory;
import org.opendedup.sar.io.Input;
import org.opendedup.sar.io.Output;
import org.opendedup.sar.io.UnavailableException;
import org.opendedup.sar.objects.FolderObjectStore;
import org.opendedup.sar.objects.ObjectPage;
import org.opendedup.sar.objects.ObjectSource;
import org.opendedup.sar.objects.ObjectStore;

/** What a reader elsewhere sees and changes: the store stays as it is, and what is missing has a reason. */
final class PrivatePacksTest {
    private static final String PACK = PackFormat.fileName(7);
    private static final String OWN = PackFormat.fileName(8);
    private static final byte[] BYTES = new byte[10_000];

    @TempDir
    private Path folder;

    private ObjectStore store;
    private ReaderRegistration registration;
    private PrivatePacks packs;

    static {
        new Random(1).nextBytes(BYTES);
    }

    @BeforeEach
    void open() throws IOException {
        store = FolderObjectStore.open(Files.createDirectories(folder.resolve("store")));
        store.put(PackNames.tail(PACK, 0), ObjectSource.of(BYTES));
        registration = ReaderRegistration.register(store);
        Directory own = FileDirectory.open(Files.createDirectories(folder.resolve("own")));
        Directory cache = FileDirectory.open(Files.createDirectories(folder.resolve("cache")));
        packs = new PrivatePacks(
                own, RemoteDirectory.open(cache, store, new RemoteDirectory.Bounds(0, 8 << 20), "test"), registration);
    }

    @AfterEach
    void close() throws IOException {
        packs.close();
        assertEquals(List.of(), store.listAll(ReaderNames.ALL, ""));
    }

    private List<String> objects() throws IOException {
        return store.listAll("", "").stream()
                .map(ObjectPage.Entry::name)
                .filter(name -> !name.startsWith(ReaderNames.ALL))
                .toList();
    }

    private byte[] read(Input input) throws IOException {
        byte[] bytes = new byte[(int) input.length()];
        input.readFully(0, ByteBuffer.wrap(bytes));
        return bytes;
    }

    @Test
    void whatIsMadeAndDeletedHereIsNotInTheStore() throws IOException {
        List<String> before = objects();
        try (Output output = packs.create(OWN)) {
            output.append(ByteBuffer.wrap(new byte[] {1, 2}));
            output.force();
        }
        assertThrows(FileAlreadyExistsException.class, () -> packs.create(PACK));
        assertEquals(List.of(PACK, OWN), packs.list());
        assertEquals(2, packs.length(OWN));
        packs.delete(PACK);
        assertFalse(packs.exists(PACK));
        assertThrows(NoSuchFileException.class, () -> packs.open(PACK));
        assertThrows(NoSuchFileException.class, () -> packs.delete(PACK));
        assertEquals(List.of(OWN), packs.list());
        packs.delete(OWN);
        assertEquals(List.of(), packs.list());
        assertEquals(before, objects());
    }

    @Test
    void aPackThatTheOwnerCompletesMeanwhileIsReadOn() throws IOException {
        try (Input input = packs.open(PACK)) {
            assertArrayEquals(BYTES, read(input));
            store.put(PackNames.pack(PACK), ObjectSource.of(BYTES));
            store.delete(List.of(PackNames.tail(PACK, 0)));
            assertArrayEquals(BYTES, read(input));
        }
    }

    @Test
    void aMissingPackHasAReasonIfTheOwnerTookThisReaderForDead() throws IOException {
        try (Input input = packs.open(PACK)) {
            store.delete(List.of(PackNames.tail(PACK, 0)));
            assertThrows(NoSuchFileException.class, () -> read(input), "it should be there");
            assertFalse(packs.exists(PACK));
            assertFalse(registration.isLost());
            store.delete(store.listAll(ReaderNames.ALL, "").stream()
                    .map(ObjectPage.Entry::name)
                    .toList());
            IOException gone = assertThrows(UnavailableException.class, () -> read(input));
            assertTrue(gone.getMessage().endsWith("Mount again"), gone.getMessage());
            assertThrows(UnavailableException.class, () -> read(packs.open(PACK)));
            assertTrue(registration.isLost());
        }
    }
}
