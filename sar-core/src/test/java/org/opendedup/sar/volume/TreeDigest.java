package org.opendedup.sar.volume;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import com.google.common.hash.Hasher;
import com.google.common.hash.Hashing;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.metadata.record.Modes;
import org.opendedup.sar.metadata.record.SnapshotIds;
import org.opendedup.sar.volume.node.OpenFile;
import org.opendedup.sar.volume.posix.Attributes;

/** What a tree of a volume shows: for each path one line of attributes, extended attributes and content. */
public final class TreeDigest {
    private static final int PIECE = 1 << 20;
    /** Of a longer file, this begin and the end are looked at. */
    private static final long MOST_BYTES = 8 * PIECE;

    private final Volume volume;
    private final Map<String, String> lines = new TreeMap<>();

    private TreeDigest(Volume volume) {
        this.volume = volume;
    }

    /** Returns a line for each path below a directory, and for the directory itself; access times are left out. */
    public static Map<String, String> of(Volume volume, long directory) throws IOException {
        TreeDigest digest = new TreeDigest(volume);
        digest.add("/", volume.attributes(directory));
        return digest.lines;
    }

    /** Returns the root directory of a snapshot. */
    public static long snapshotRoot(Volume volume, String name) throws IOException {
        Attributes folder = volume.lookup(Inode.ROOT, ".snapshots".getBytes(ISO_8859_1));
        Attributes root = volume.lookup(folder.inode(), name.getBytes(ISO_8859_1));
        volume.forget(folder.inode(), 1);
        volume.forget(root.inode(), 1);
        return root.inode();
    }

    private void add(String path, Attributes found) throws IOException {
        StringBuilder line = new StringBuilder();
        line.append("inode ").append(SnapshotIds.inode(found.inode()));
        line.append(String.format(" %o %d %d:%d ", found.mode(), found.links(), found.uid(), found.gid()));
        line.append(found.size())
                .append(' ')
                .append(found.modifiedNs())
                .append(' ')
                .append(found.changedNs());
        for (byte[] name : volume.extendedAttributes(found.inode())) {
            byte[] value = volume.extendedAttribute(found.inode(), name);
            line.append(' ').append(new String(name, ISO_8859_1)).append('=');
            line.append(value == null ? "none" : new String(value, ISO_8859_1));
        }
        if (Modes.isDirectory(found.mode() & Modes.TYPE)) {
            lines.put(path, line.toString());
            addChildren(path, found.inode());
        } else if ((found.mode() & Modes.TYPE) == Modes.SYMBOLIC_LINK) {
            lines.put(path, line + " -> " + new String(volume.readSymbolicLink(found.inode()), ISO_8859_1));
        } else if ((found.mode() & Modes.TYPE) == Modes.REGULAR) {
            lines.put(path, line + " " + content(found));
        } else {
            lines.put(path, line + " device " + found.device());
        }
    }

    private void addChildren(String path, long directory) throws IOException {
        List<byte[]> names = new ArrayList<>();
        volume.list(directory, 0, false, (name, inode, type, cookie, attributes) -> names.add(name));
        for (byte[] name : names) {
            String text = new String(name, ISO_8859_1);
            if (!text.equals(".") && !text.equals("..")) {
                Attributes found = volume.lookup(directory, name);
                add(path.equals("/") ? path + text : path + "/" + text, found);
                volume.forget(found.inode(), 1);
            }
        }
    }

    private String content(Attributes found) throws IOException {
        OpenFile file = volume.open(found.inode(), false);
        try {
            Hasher hasher = Hashing.sha256().newHasher();
            ByteBuffer bytes = ByteBuffer.allocate(PIECE);
            long end = Math.min(found.size(), MOST_BYTES);
            for (long at = 0; at < end; at += bytes.position()) {
                volume.read(file, at, bytes.clear());
                hasher.putBytes(bytes.array(), 0, bytes.position());
            }
            volume.read(file, Math.max(0, found.size() - PIECE), bytes.clear());
            hasher.putBytes(bytes.array(), 0, bytes.position());
            return hasher.hash().toString();
        } finally {
            volume.close(file);
        }
    }
}
