package org.opendedup.sar.model;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.volume.posix.AttributeChange;
import org.opendedup.sar.volume.posix.Owner;
import org.opendedup.sar.volume.posix.SetMode;

/** Two different file systems have different listings: the tests compare file systems by their listings. */
class ListingTest {
    private static final Owner OWNER = new Owner(1, 2);

    private final ModelFileSystem model = new ModelFileSystem();
    private final Map<String, Long> inodes = new TreeMap<>();

    /** A change that is possible for any inode. */
    @FunctionalInterface
    private interface Change {
        void of(long inode) throws IOException;
    }

    @ParameterizedTest
    @ValueSource(strings = {"file", "directory", "link", "root"})
    void everyChangeOfAnInodeShows(String name) throws IOException {
        inodes.put("root", Inode.ROOT);
        inodes.put(
                "file",
                model.makeNode(Inode.ROOT, bytes("file"), Modes.REGULAR | 0644, 0, OWNER)
                        .inode());
        inodes.put(
                "directory",
                model.makeDirectory(Inode.ROOT, bytes("directory"), 0755, OWNER).inode());
        inodes.put(
                "link",
                model.makeSymbolicLink(Inode.ROOT, bytes("link"), bytes("target"), OWNER)
                        .inode());

        assertShows(
                name,
                inode -> model.setExtendedAttribute(inode, bytes("user.1"), bytes("a"), SetMode.CREATE_OR_REPLACE));
        assertShows(
                name,
                inode -> model.setExtendedAttribute(inode, bytes("user.1"), bytes("b"), SetMode.CREATE_OR_REPLACE));
        assertShows(name, inode -> model.removeExtendedAttribute(inode, bytes("user.1")));
        assertShows(name, inode -> model.change(inode, AttributeChange.ofMode(0700)));
        assertShows(name, inode -> model.change(inode, new AttributeChange(null, 7, null, null, null, null, null)));
        assertShows(name, inode -> model.change(inode, new AttributeChange(null, null, 7, null, null, null, null)));
    }

    @ParameterizedTest
    @ValueSource(longs = {0, 5000})
    void everyByteOfAFileShows(long offset) throws IOException {
        long file = model.makeNode(Inode.ROOT, bytes("file"), Modes.REGULAR | 0644, 0, OWNER)
                .inode();
        inodes.put("file", file);
        assertShows("file", inode -> model.change(inode, AttributeChange.ofSize(10_000L)));
        assertShows("file", inode -> {
            try (FileSystem.Handle handle = model.open(inode, true)) {
                handle.write(offset, ByteBuffer.wrap(new byte[] {1}));
            }
        });
    }

    private void assertShows(String name, Change change) throws IOException {
        Listing listing = new Listing(model);
        String described = model.describe();
        var listed = listing.withContents();
        assertEquals(listed, listing.withContents());
        change.of(inodes.get(name));
        assertNotEquals(described, model.describe(), "nothing changed");
        assertNotEquals(listed, listing.withContents());
    }

    private static byte[] bytes(String text) {
        return text.getBytes(ISO_8859_1);
    }
}
