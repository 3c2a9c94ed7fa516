package org.opendedup.sar.container;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.common.ContainerChanges;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.StoredContainer;
import org.opendedup.sar.common.StoredContainer.State;
import org.opendedup.sar.common.Writing;
import org.opendedup.sar.container.format.Bytes;
import org.opendedup.sar.container.format.ContainerFormat;
import org.opendedup.sar.container.format.ContainerIdentity;
import org.opendedup.sar.container.format.FrameTable;
import org.opendedup.sar.container.format.PackFormat;
import org.opendedup.sar.io.CrashDirectory;
import org.opendedup.sar.io.FileDirectory;

/** Packs and entries of the table that are not what the volume wrote: nothing of them is taken for its own. */
@TestCiphers.PlainAndEncrypted
final class ForeignPackTest extends StoreTest {
    /** The pack was restored from a backup, or belongs to another history of the volume. */
    @Test
    void framesOfAnotherWritingOrContainerInItsPlaceAreNotTaken() throws IOException {
        FrameTable table = leaveOpen();
        for (boolean otherSalt : new boolean[] {true, false}) {
            CrashDirectory other = new CrashDirectory(seed);
            fixture.salt = otherSalt ? 0x77 : fixture.salt;
            fixture.lastId.set(otherSalt ? 0 : 1);
            try (ContainerStore store = fixture.open(other)) {
                append(store, 1, 30_000, new TestChunks());
                fixture.commit(store);
            }
            fixture.salt = fixture.entry(disk, 1).writing().salt();
            byte[] foreign = fixture.contents(other, fixture.lastId.get());
            CrashDirectory mixed = fixture.crash(disk, 1);
            fixture.replace(mixed, 1, foreign);
            byte[] whole = mixed.contents(fixture.pack(mixed, 1));
            try (ContainerStore store = fixture.openWithoutTables(mixed)) {
                assertEquals(List.of(), store.recovered());
                assertEquals(slots(0, table.slots()), lost(store));
            }
            assertArrayEquals(whole, mixed.contents(fixture.pack(mixed, 1)));
            try (ContainerStore control = fixture.openWithoutTables(fixture.crash(disk, 2))) {
                assertEquals(Map.of(), lost(control));
            }
        }
    }

    @Test
    void aSealedContainerOfAnotherWritingIsNotRead() throws IOException {
        CrashDirectory one = sealedDisk();
        long id = chunks.byId.keySet().iterator().next();
        byte[] chunk = chunks.byId.get(id);
        fixture.salt = 0x55;
        byte[] other = fixture.contents(sealedDisk(), 1);
        byte[] own = fixture.contents(one, 1);
        for (byte[] bytes : new byte[][] {own, other}) {
            fixture.replace(one, 1, bytes);
            try (ContainerStore withTables = fixture.open(one);
                    ContainerStore without = fixture.openWithoutTables(one)) {
                for (ContainerStore store : List.of(withTables, without)) {
                    if (bytes == own) {
                        assertArrayEquals(chunk, TestChunks.read(store, id));
                    } else {
                        assertThrows(CorruptionException.class, () -> TestChunks.read(store, id));
                        assertThrows(CorruptionException.class, () -> store.directory(1));
                    }
                }
            }
        }
    }

    /** A disk with one sealed container, of id 1; its chunks replace the earlier ones. */
    private CrashDirectory sealedDisk() throws IOException {
        CrashDirectory made = new CrashDirectory(seed);
        fixture.lastId.set(0);
        chunks.byId.clear();
        try (ContainerStore store = fixture.open(made)) {
            append(store, 1, 5000, chunks);
            fixture.sealAll(store);
        }
        return made;
    }

    @Test
    void aPackThatExistsIsNeverWrittenOver() throws IOException {
        CrashDirectory sealed = sealedDisk();
        String name = fixture.pack(sealed, 1);
        byte[] pack = sealed.contents(name);
        fixture.lastId.set(0);
        try (ContainerStore store = fixture.openWithoutTables(sealed);
                ContainerWriter writer = store.writer(1)) {
            assertThrows(FileAlreadyExistsException.class, () -> chunks.append(writer, TestChunks.chunk(random, 1000)));
        }
        assertArrayEquals(pack, sealed.contents(name));
    }

    /** A recovery skips numbers of packs that another history of the volume left. */
    @Test
    void aRecoveryChoosesANumberWithoutAPack() throws IOException {
        leaveOpen();
        byte[] foreign = {1, 2, 3};
        String taken = PackFormat.fileName(fixture.lastId.get() + 1);
        disk.put(taken, foreign);
        try (ContainerStore store = fixture.openWithoutTables(disk)) {
            fixture.commit(store);
            chunks.assertAllReadable(store);
        }
        assertArrayEquals(foreign, disk.contents(taken));
    }

    @Test
    void entriesThatClaimToBeHugeTakeNoMemory(@TempDir Path folder) throws IOException {
        FileDirectory real = FileDirectory.open(folder);
        Bytes footer = new Bytes(ContainerFormat.FOOTER_BYTES);
        long length = 1_900_000_000L;
        // A directory that begins where the header ends and covers the rest of the container.
        ContainerFormat.putFooter(
                new ContainerFormat.Footer(new ContainerIdentity(2, 7, 1), (int) (length - 100_000), 32, (int)
                        (length - 32 - ContainerFormat.FOOTER_BYTES)),
                2,
                footer);
        Path pack = folder.resolve(PackFormat.fileName(2));
        Files.createDirectories(pack.getParent());
        try (RandomAccessFile access = new RandomAccessFile(pack.toFile(), "rw")) {
            access.seek(4096 + length - footer.length());
            access.write(footer.array(), 0, footer.length());
        }
        StoredContainer entry = new StoredContainer(new Writing(7, 1), State.SEALED, 2, 4096, length, 10, 100);
        fixture.table(real).commit(new ContainerChanges(Map.of(2L, entry), Set.of()));
        try (ContainerStore store = fixture.openWithoutTables(real)) {
            assertThrows(CorruptionException.class, () -> store.directory(2));
            assertThrows(CorruptionException.class, () -> store.frameTable(2));
        }
    }
}
