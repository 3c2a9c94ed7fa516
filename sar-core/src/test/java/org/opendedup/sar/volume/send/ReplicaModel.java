package org.opendedup.sar.volume.send;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import com.google.common.hash.Hasher;
import com.google.common.hash.Hashing;
import java.io.IOException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import org.opendedup.sar.common.ContentHash;
import org.opendedup.sar.common.ContentHasher;
import org.opendedup.sar.common.Fingerprints;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.metadata.record.Modes;
import org.opendedup.sar.metadata.record.SnapshotIds;
import org.opendedup.sar.volume.stream.StreamMessage;
import org.opendedup.sar.volume.stream.StreamPage;
import org.opendedup.sar.volume.stream.StreamPosition;

/** A replica in memory: applies the messages of streams to maps, and shows the tree as a digest of a volume does. */
final class ReplicaModel {
    private static final int PIECE = 1 << 20;

    private static final class Node {
        Inode inode;
        final Map<String, byte[]> attributes = new TreeMap<>();
        final Map<String, Long> names = new TreeMap<>();
        byte[] content = {};

        Node copy() {
            Node copy = new Node();
            copy.inode = inode;
            copy.attributes.putAll(attributes);
            copy.names.putAll(names);
            copy.content = content.clone();
            return copy;
        }
    }

    private final Map<Long, Node> nodes = new TreeMap<>();
    private final Map<Long, Node> base = new HashMap<>();
    private final Map<Long, byte[]> chunks = new HashMap<>();
    /** Chunks of earlier streams, by fingerprint. */
    final Map<String, byte[]> stored = new HashMap<>();

    private final ContentHasher hasher = new ContentHasher();
    private StreamMessage.Start start;
    private StreamPosition last = StreamPosition.START;
    private boolean isComplete;
    long chunkBytes;

    /** Returns up to where everything is applied. */
    StreamPosition position() {
        return last;
    }

    boolean isComplete() {
        return isComplete;
    }

    void apply(StreamMessage message) throws IOException {
        if (message instanceof StreamMessage.Start begun) {
            if (begun.point().position().equals(StreamPosition.START)) {
                base.clear();
                nodes.forEach((inode, node) -> base.put(inode, node.copy()));
                last = StreamPosition.START;
            }
            isComplete = false;
            start = begun;
            chunks.clear();
        } else if (message instanceof StreamMessage.Removed removed) {
            require(nodes.remove(removed.inode()) != null, "inode " + removed.inode() + " to be removed");
            pass(removed.inode() + 1, 0);
        } else if (message instanceof StreamMessage.Changed changed) {
            Node node = nodes.computeIfAbsent(changed.inode().id(), inode -> new Node());
            node.inode = changed.inode();
            if (node.inode.isFile()) {
                node.content = Arrays.copyOf(node.content, (int) node.inode.size());
            }
            pass(changed.inode().id(), 0);
        } else if (message instanceof StreamMessage.Attributes attributes) {
            attributes.attributes().forEach(attribute -> set(attributes.inode(), attribute));
        } else if (message instanceof StreamMessage.Names names) {
            names.names().forEach(name -> set(names.directory(), name));
        } else if (message instanceof StreamMessage.Offer offer) {
            take(offer.chunks(), null);
        } else if (message instanceof StreamMessage.Chunks sent) {
            chunkBytes += sent.data().length;
            take(sent.chunks(), sent.data());
        } else if (message instanceof StreamMessage.Pages pages) {
            for (StreamPage page : pages.pages()) {
                set(nodes.get(pages.inode()), page);
                pass(pages.inode(), page.number() + 1);
            }
        } else if (message instanceof StreamMessage.End) {
            isComplete = true;
        } else {
            throw new AssertionError(message);
        }
    }

    private void pass(long inode, long page) {
        StreamPosition now = new StreamPosition(inode, page);
        StreamPosition begun = start.point().position();
        if (!now.equals(begun) || !last.equals(begun)) {
            require(now.compareTo(last) >= 0 || inode == begun.inode(), "the order: " + now + " after " + last);
        }
        last = now.compareTo(last) > 0 ? now : last;
    }

    private static void require(boolean isRight, String what) {
        if (!isRight) {
            throw new AssertionError(what);
        }
    }

    private void set(long inode, StreamMessage.Attribute attribute) {
        Map<String, byte[]> attributes = nodes.get(inode).attributes;
        String name = new String(attribute.name(), ISO_8859_1);
        if (attribute.value() == null) {
            attributes.remove(name);
        } else {
            attributes.put(name, attribute.value());
        }
    }

    private void set(long directory, StreamMessage.Name name) {
        Map<String, Long> names = nodes.get(directory).names;
        String text = new String(name.name(), ISO_8859_1);
        if (name.inode() == 0) {
            names.remove(text);
        } else {
            names.put(text, name.inode());
        }
    }

    /** @param data null: those that are stored are taken */
    private void take(StreamMessage.ChunkList list, byte[] data) {
        int at = 0;
        for (int i = 0; i < list.count(); i++) {
            String fingerprint = Fingerprints.toHex(list.fingerprints(), i * Fingerprints.BYTES);
            byte[] bytes = stored.get(fingerprint);
            if (data != null) {
                bytes = Arrays.copyOfRange(data, at, at + list.lengths()[i]);
                byte[] found = new byte[Fingerprints.BYTES];
                hasher.fingerprint(ContentHash.SHA_256, bytes, 0, bytes.length, found, 0);
                require(fingerprint.equals(Fingerprints.toHex(found, 0)), "the fingerprint of the bytes");
                stored.put(fingerprint, bytes);
                at += bytes.length;
            }
            if (bytes != null) {
                require(bytes.length == list.lengths()[i], "the length of a chunk");
                chunks.put(list.ids()[i], bytes);
            }
        }
    }

    /** Returns the answer to an offer. */
    StreamMessage.Answer answer(StreamMessage.Offer offer) {
        byte[] bits = new byte[(offer.chunks().count() + 7) / 8];
        for (int i = 0; i < offer.chunks().count(); i++) {
            String fingerprint = Fingerprints.toHex(offer.chunks().fingerprints(), i * Fingerprints.BYTES);
            if (!stored.containsKey(fingerprint)) {
                bits[i / 8] |= (byte) (1 << i % 8);
            }
        }
        return new StreamMessage.Answer(bits);
    }

    private void set(Node node, StreamPage page) {
        int at = (int) page.number() * start.pageBytes();
        int end = Math.min(node.content.length, at + start.pageBytes());
        require(at < end, "a page within its file");
        Arrays.fill(node.content, at, end, (byte) 0);
        for (int entry = 0; entry < page.count(); entry++) {
            int length = page.length(entry);
            require(at + length <= end, "an entry within its page and file");
            switch (page.source(entry)) {
                case ZEROS -> {}
                case BASE -> {
                    byte[] from = base.get(node.inode.id()).content;
                    System.arraycopy(from, (int) page.baseOffset(entry), node.content, at, length);
                }
                case CHUNK -> {
                    byte[] chunk = chunks.get(page.chunkId(entry));
                    require(chunk != null, "a chunk that was sent");
                    System.arraycopy(chunk, page.chunkOffset(entry), node.content, at, length);
                }
            }
            at += length;
        }
    }

    /** Returns what {@code TreeDigest} returns for the same tree in a volume. */
    Map<String, String> digest() {
        Map<String, String> lines = new TreeMap<>();
        add("/", Inode.ROOT, lines);
        return lines;
    }

    private void add(String path, long number, Map<String, String> lines) {
        Node node = nodes.get(number);
        require(node != null, path + " leads to inode " + number);
        Inode inode = node.inode;
        StringBuilder line = new StringBuilder("inode " + SnapshotIds.inode(inode.id()));
        line.append(String.format(" %o %d %d:%d ", inode.mode(), inode.links(), inode.uid(), inode.gid()));
        line.append(inode.size()).append(' ').append(inode.times().modifiedNs());
        line.append(' ').append(inode.times().changedNs());
        node.attributes.forEach(
                (name, value) -> line.append(' ').append(name).append('=').append(new String(value, ISO_8859_1)));
        if (inode.isDirectory()) {
            lines.put(path, line.toString());
            node.names.forEach((name, to) -> add(path.equals("/") ? path + name : path + "/" + name, to, lines));
        } else if (inode.type() == Modes.SYMBOLIC_LINK) {
            lines.put(path, line + " -> " + new String(inode.target(), ISO_8859_1));
        } else {
            int end = Math.min(node.content.length, 8 * PIECE);
            Hasher hash = Hashing.sha256().newHasher().putBytes(node.content, 0, end);
            int from = Math.max(0, node.content.length - PIECE);
            hash.putBytes(node.content, from, node.content.length - from);
            lines.put(path, line + " " + hash.hash());
        }
    }

    /** Returns the number of inodes that no name leads to. */
    long unnamed() {
        long named = nodes.values().stream()
                .flatMap(node -> node.names.values().stream())
                .distinct()
                .count();
        return nodes.size() - 1 - named;
    }
}
