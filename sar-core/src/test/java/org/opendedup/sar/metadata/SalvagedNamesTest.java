package org.opendedup.sar.metadata;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.metadata.KeyValueStore.Batch;
import org.opendedup.sar.metadata.KeyValueStore.Family;

/** What no name leads to is kept, unless it is being freed. */
class SalvagedNamesTest {
    private static final int DIRECTORY = 0040000;
    private static final int REGULAR = 0100000;
    private static final long FREE = 100;
    private static final NameHash HASH = NameHash.sipHash(1, 2);

    private final KeyValueStore database = KeyValueStores.heap();
    private final List<String> told = new ArrayList<>();

    @BeforeEach
    void makeRoot() throws IOException {
        inode(Inode.ROOT, DIRECTORY | 0755, 2);
    }

    private void put(Family family, byte[] key, byte[] value) throws IOException {
        try (Batch batch = database.batch()) {
            batch.put(family, key, value);
            batch.commit();
        }
    }

    private void inode(long id, int mode, int links) throws IOException {
        Inode inode = Inode.of(id, mode, Inode.Times.ofCreation(0)).withLinks(links);
        put(
                Family.INODE,
                Keys.of(id),
                InodeFormat.encode((mode & DIRECTORY) != 0 ? inode.withParent(Inode.ROOT) : inode));
    }

    private void orphan(long id, long fromPage) throws IOException {
        put(
                Family.ORPHAN,
                Keys.of(id),
                new ValueWriter(10).writeByte(1).writeVarint(fromPage).toBytes());
    }

    private static byte[] key(long folder, String text) {
        byte[] name = text.getBytes(US_ASCII);
        return Keys.of(folder, HASH.of(name), name);
    }

    private @Nullable Entry entry(long folder, String text) throws IOException {
        byte[] value = database.get(Family.ENTRY, key(folder, text));
        return value == null ? null : EntryFormat.decode(folder, value);
    }

    private long run() throws IOException {
        return new SalvagedNames(database, HASH, 0, new LostRecords(), told).run(FREE, SalvageProgress.NONE);
    }

    private int links(long id) throws IOException {
        byte[] value = database.get(Family.INODE, Keys.of(id));
        assertNotNull(value);
        return InodeFormat.decode(id, value).links();
    }

    @Test
    void anInodeWithoutLinksThatIsNotBeingFreedGetsAName() throws IOException {
        inode(10, REGULAR | 0600, 0);
        inode(11, DIRECTORY | 0700, 0);
        inode(12, REGULAR | 0600, 0);
        orphan(12, 0);
        inode(13, REGULAR | 0600, 0);
        orphan(13, 5); // only its tail
        inode(14, REGULAR | 0600, 0);
        put(Family.ORPHAN, Keys.of(14), new byte[] {77});
        assertEquals(FREE + 1, run());
        for (long id : new long[] {10, 11, 13, 14}) {
            Entry entry = entry(FREE, "#" + id);
            assertNotNull(entry, "inode " + id);
            assertEquals(id == 11 ? 2 : 1, links(id), "inode " + id);
        }
        assertNull(entry(FREE, "#12"), "an inode that is being freed got a name");
        assertEquals(0, links(12));
        assertNull(database.get(Family.ORPHAN, Keys.of(10)), "the next mount would free it");
        assertNull(database.get(Family.ORPHAN, Keys.of(14)), "a mount would refuse the record");
        assertEquals(3, links(Inode.ROOT));
        assertEquals(3, links(FREE));
    }

    @Test
    void aFileInThePlaceOfTheFolderStaysAndTheFolderGetsANumber() throws IOException {
        inode(10, REGULAR | 0600, 1);
        put(Family.ENTRY, key(Inode.ROOT, "lost+found"), EntryFormat.encode(10, REGULAR));
        inode(11, REGULAR | 0600, 1);
        run();
        Entry folder = entry(Inode.ROOT, "lost+found-1");
        assertNotNull(folder);
        assertNotNull(entry(folder.inode(), "#11"));
        Entry file = entry(Inode.ROOT, "lost+found");
        assertNotNull(file);
        assertEquals(10, file.inode());
        assertTrue(told.get(0).endsWith("/lost+found-1/#11"), told::toString);
    }
}
