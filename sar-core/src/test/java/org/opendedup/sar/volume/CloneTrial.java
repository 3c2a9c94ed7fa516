package org.opendedup.sar.volume;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import org.opendedup.sar.common.Progress;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.metadata.record.Modes;
import org.opendedup.sar.volume.clone.CloneReport;
import org.opendedup.sar.volume.node.OpenFile;
import org.opendedup.sar.volume.posix.AttributeChange;
import org.opendedup.sar.volume.posix.Attributes;
import org.opendedup.sar.volume.posix.Owner;
import org.opendedup.sar.volume.posix.SetMode;

/** Trees with all kinds of files, what they are, and their clones. */
record CloneTrial(Volume volume) {
    static final int KIB = 1 << 10;
    static final Owner OWNER = new Owner(1000, 100);

    /** Makes a folder "source" in the root, with all kinds of files. */
    long makeSource(long seed) throws IOException {
        Random random = new Random(seed);
        long source = folder(Inode.ROOT, "source");
        long below = folder(source, "below");
        file(below, "empty", new byte[0]);
        file(below, "small", random(random, 4 * KIB));
        file(below, "page", random(random, 256 * KIB));
        long several = file(source, "pages", random(random, 700 * KIB));
        volume.link(several, below, bytes("again"));
        volume.link(several, source, bytes("and again"));
        volume.link(file(below, "small twice", random(random, 100)), below, bytes("twice"));
        sparse(source, "sparse", 5L << 30, random(random, 10 * KIB));
        sparse(source, "hole", 100 * KIB, random(random, KIB));
        volume.makeSymbolicLink(source, bytes("link"), bytes("below/small"), OWNER);
        volume.makeNode(source, bytes("device"), Modes.CHARACTER_DEVICE | 0600, 259, OWNER);
        volume.makeNode(source, bytes("fifo"), Modes.FIFO | 0640, 0, OWNER);
        volume.makeNode(source, bytes("socket"), Modes.SOCKET | 0640, 0, OWNER);
        long many = folder(source, "many");
        for (int i = 0; i < 300; i++) {
            file(many, "f" + i, random(random, 50 + i));
        }
        folder(folder(folder(source, "deep"), "deeper"), "deepest");
        extended(several, "user.long", random(random, 3000));
        extended(below, "user.of folder", bytes("value"));
        extended(
                below,
                "system.posix_acl_default",
                HexFormat.of()
                        .parseHex("02000000" + "01000700ffffffff" + "0200060002000000" + "04000500ffffffff"
                                + "10000700ffffffff" + "20000000ffffffff"));
        return source;
    }

    static byte[] bytes(String name) {
        return name.getBytes(UTF_8);
    }

    private static byte[] random(Random random, int length) {
        byte[] bytes = new byte[length];
        random.nextBytes(bytes);
        return bytes;
    }

    long folder(long parent, String name) throws IOException {
        return marked(volume.makeDirectory(parent, bytes(name), 02750, OWNER).inode());
    }

    long file(long folder, String name, byte[] content) throws IOException {
        long inode = volume.makeNode(folder, bytes(name), Modes.REGULAR | 04640, 0, OWNER)
                .inode();
        write(inode, 0, content);
        return marked(inode);
    }

    private void sparse(long folder, String name, long size, byte[] content) throws IOException {
        long inode = file(folder, name, new byte[0]);
        write(inode, size / 3, content);
        volume.change(inode, AttributeChange.ofSize(size));
        marked(inode);
    }

    /** Gives an inode times of its own. */
    private long marked(long inode) throws IOException {
        volume.change(
                inode,
                new AttributeChange(
                        null, null, null, null, -5_000_000_001L + inode, 1_000_000_000_000_000_001L + inode, null));
        return inode;
    }

    private void extended(long inode, String name, byte[] value) throws IOException {
        volume.setExtendedAttribute(inode, bytes(name), value, SetMode.CREATE);
    }

    void write(long inode, long offset, byte[] content) throws IOException {
        OpenFile file = volume.open(inode, true, 0);
        volume.write(file, offset, ByteBuffer.wrap(content));
        volume.close(file);
    }

    byte[] read(long inode) throws IOException {
        OpenFile file = volume.open(inode, false);
        ByteBuffer target = ByteBuffer.allocate((int) volume.attributes(inode).size());
        volume.read(file, 0, target);
        volume.close(file);
        return target.array();
    }

    long find(String path) throws IOException {
        long inode = Inode.ROOT;
        for (String name : path.split("/")) {
            inode = volume.lookup(inode, bytes(name)).inode();
        }
        return inode;
    }

    CloneReport clone(long source, String name) throws IOException {
        return clone(source, name, Progress.NONE);
    }

    CloneReport clone(long source, String name, Progress progress) throws IOException {
        return volume.maintenance().treeClone(progress).run(source, Inode.ROOT, bytes(name));
    }

    /** Returns how many inodes the metadata have. */
    long inodes() throws IOException {
        long[] count = {0};
        long from = 1;
        while (from > 0) {
            from = volume.context().metadata().namespace().someInodes(from, 100, inode -> count[0]++);
        }
        return count[0];
    }

    /** Returns how many inodes have a name, and the root. */
    long reachable() throws IOException {
        Set<Long> found = new HashSet<>();
        volume.context()
                .metadata()
                .namespace()
                .forEachEntry(Long.MAX_VALUE, (folder, name, inode, isFolder) -> found.add(inode));
        return found.size() + 1;
    }

    /**
     * Returns all that programs see of a tree but inode numbers, change and birth times: paths, and what is there.
     * Names of one file say so.
     */
    SortedMap<String, String> picture(long inode) throws IOException {
        SortedMap<String, String> picture = new TreeMap<>();
        add(inode, ".", picture, new HashMap<>());
        return picture;
    }

    private void add(long inode, String path, Map<String, String> picture, Map<Long, String> seen) throws IOException {
        Attributes is = volume.attributes(inode);
        List<Object> text = new ArrayList<>();
        boolean isFolder = Modes.isDirectory(is.mode());
        text.addAll(List.of(
                Integer.toOctalString(is.mode()),
                is.links(),
                is.uid(),
                is.gid(),
                is.device(),
                is.size(),
                is.blocks(),
                is.accessedNs(),
                is.modifiedNs()));
        for (byte[] name : volume.extendedAttributes(inode)) {
            text.add(new String(name, UTF_8) + "=" + Arrays.hashCode(volume.extendedAttribute(inode, name)));
        }
        if ((is.mode() & Modes.TYPE) == Modes.SYMBOLIC_LINK) {
            text.add(new String(volume.readSymbolicLink(inode), UTF_8));
        }
        if ((is.mode() & Modes.TYPE) == Modes.REGULAR) {
            text.add("as " + seen.computeIfAbsent(inode, key -> path));
            text.add(content(inode, is.size()));
        }
        picture.put(path, text.toString());
        if (isFolder) {
            List<byte[]> names = new ArrayList<>();
            volume.list(inode, 2, false, (name, child, type, cookie, attributes) -> names.add(name));
            names.sort(Arrays::compare);
            for (byte[] name : names) {
                long child = volume.lookup(inode, name).inode();
                add(child, path + "/" + new String(name, ISO_8859_1), picture, seen);
                volume.forget(child, 1);
            }
        }
    }

    /** Returns the data of a file with its places. */
    private String content(long inode, long size) throws IOException {
        OpenFile file = volume.open(inode, false);
        StringBuilder content = new StringBuilder();
        try {
            for (long at = 0; at < size; ) {
                long data;
                try {
                    data = volume.seekData(file, at);
                } catch (IOException noMore) {
                    break;
                }
                long end = volume.seekHole(file, data);
                ByteBuffer bytes = ByteBuffer.allocate((int) (end - data));
                volume.read(file, data, bytes);
                content.append(' ')
                        .append(data)
                        .append('-')
                        .append(end)
                        .append(':')
                        .append(Arrays.hashCode(bytes.array()));
                at = end;
            }
        } finally {
            volume.close(file);
        }
        return content.toString();
    }
}
