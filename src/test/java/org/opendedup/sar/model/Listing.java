package org.opendedup.sar.model;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.volume.posix.Attributes;

/** Everything a file system shows, in an order and text that are the same for every correct one. */
public final class Listing {
    private static final int READ_BYTES = 128 * 1024;

    private final FileSystem fileSystem;

    public Listing(FileSystem fileSystem) {
        this.fileSystem = fileSystem;
    }

    /** One entry of a directory; the attributes only if requested. */
    record Entry(String name, long inode, int type, long cookie, Attributes attributes) {}

    /**
     * Up to {@code step} entries after {@code cookie}; releases the references that a listing with attributes takes.
     */
    static List<Entry> list(FileSystem fileSystem, long directory, long cookie, int step, boolean withAttributes)
            throws IOException {
        List<Entry> entries = new ArrayList<>();
        fileSystem.list(directory, cookie, withAttributes, (name, inode, type, next, attributes) -> {
            if (entries.size() == step) {
                return false;
            }
            entries.add(new Entry(new String(name, StandardCharsets.ISO_8859_1), inode, type, next, attributes));
            return true;
        });
        for (Entry entry : entries) {
            if (entry.attributes() != null) {
                fileSystem.forget(entry.inode(), 1);
            }
        }
        return entries;
    }

    /** Every name below the root, by path, with its attributes; no reference is retained. */
    public TreeMap<String, Attributes> tree() throws IOException {
        TreeMap<String, Attributes> tree = new TreeMap<>();
        tree.put("", fileSystem.attributes(Inode.ROOT));
        gather("", Inode.ROOT, tree);
        return tree;
    }

    private void gather(String path, long directory, Map<String, Attributes> tree) throws IOException {
        for (Entry entry : list(fileSystem, directory, 0, Integer.MAX_VALUE, true)) {
            if (entry.attributes() == null) {
                continue;
            }
            String child = path.isEmpty() ? entry.name() : path + "/" + entry.name();
            tree.put(child, entry.attributes());
            if (Modes.isDirectory(entry.attributes().mode())) {
                gather(child, entry.inode(), tree);
            }
        }
    }

    /** A line for each name: attributes, other names, target, extended attributes; not sizes, times and contents. */
    public List<String> names() throws IOException {
        return lines(false);
    }

    /** A line for each name: all of it. */
    public List<String> withContents() throws IOException {
        return lines(true);
    }

    private List<String> lines(boolean withContents) throws IOException {
        List<String> lines = new ArrayList<>();
        Map<Long, String> firstNames = new HashMap<>();
        for (Map.Entry<String, Attributes> entry : tree().entrySet()) {
            Attributes attributes = entry.getValue();
            String other = firstNames.putIfAbsent(attributes.inode(), entry.getKey());
            StringBuilder line = new StringBuilder("/").append(entry.getKey());
            line.append(withContents ? OpRunner.show(attributes) : withoutTimes(attributes));
            line.append(other == null ? "" : " same as /" + other);
            int type = attributes.mode() & Modes.TYPE;
            if (type == Modes.SYMBOLIC_LINK) {
                line.append(" to ").append(text(fileSystem.readSymbolicLink(attributes.inode())));
            }
            line.append(extendedAttributes(attributes.inode()));
            if (type == Modes.REGULAR && withContents && other == null) {
                line.append(" bytes ").append(contentDigest(attributes.inode()));
            }
            lines.add(line.toString());
        }
        return lines;
    }

    private static String withoutTimes(Attributes attributes) {
        return " mode " + Integer.toOctalString(attributes.mode()) + " links " + attributes.links() + " owner "
                + attributes.uid() + ":" + attributes.gid();
    }

    private String extendedAttributes(long inode) throws IOException {
        TreeMap<String, String> attributes = new TreeMap<>();
        for (byte[] name : fileSystem.extendedAttributes(inode)) {
            byte[] value = fileSystem.extendedAttribute(inode, name);
            attributes.put(text(name), value == null ? "FAILED: listed but absent" : text(value));
        }
        return attributes.isEmpty() ? "" : " attributes " + attributes;
    }

    private String contentDigest(long inode) throws IOException {
        MessageDigest digest = sha256();
        long offset = 0;
        ByteBuffer buffer = ByteBuffer.allocate(READ_BYTES);
        try (FileSystem.Handle handle = fileSystem.open(inode, false)) {
            while (handle.read(offset, buffer.clear()) > 0) {
                offset += buffer.position();
                digest.update(buffer.flip());
            }
        }
        return offset + " " + shortHex(digest);
    }

    static String digest(byte[] bytes, int length) {
        MessageDigest digest = sha256();
        digest.update(bytes, 0, length);
        return shortHex(digest);
    }

    private static String shortHex(MessageDigest digest) {
        return HexFormat.of().formatHex(Arrays.copyOf(digest.digest(), 8));
    }

    private static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError("every JDK has SHA-256", e);
        }
    }

    private static String text(byte[] bytes) {
        return new String(bytes, StandardCharsets.ISO_8859_1);
    }
}
