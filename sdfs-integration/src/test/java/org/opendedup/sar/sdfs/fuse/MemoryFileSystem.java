package org.opendedup.sar.sdfs.fuse;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.common.PosixException.Reason;
import org.opendedup.sar.volume.names.EntryVisitor;
import org.opendedup.sar.volume.parts.SpaceUse;
import org.opendedup.sar.volume.posix.AttributeChange;
import org.opendedup.sar.volume.posix.Attributes;
import org.opendedup.sar.volume.posix.Owner;
import org.opendedup.sar.volume.posix.RenameMode;
import org.opendedup.sar.volume.posix.SetMode;

/**
 * A small file system in memory, with one lock: the fake that tests serve. Counts the references it gave, so that a
 * test can see whether they came back. Names are kept as ISO-8859-1 strings, byte for byte.
 */
public class MemoryFileSystem implements FuseOperations {
    public static final long ROOT = 1;
    /** When every file says it was made, in seconds. */
    public static final long BORN_S = 1_000_000_000;

    private static final long MAX_FILE_BYTES = 1 << 30;

    private final Map<Long, Node> nodes = new HashMap<>();
    private final HandleTable<Node> openFiles = new HandleTable<>(HandleTable.MAX_HANDLES);
    private long lastInode = ROOT;
    private long lastCookie = 2;
    private boolean ended;

    private static final class Node {
        final long inode;
        int mode;
        int links;
        int uid;
        int gid;
        int device;
        long references;
        int openings;
        long parent;
        long size;
        long accessedNs = now();
        long modifiedNs = accessedNs;
        long changedNs = accessedNs;
        byte[] data = new byte[0];
        final Map<String, Entry> entries = new HashMap<>();
        final TreeMap<Long, Entry> entriesByCookie = new TreeMap<>();
        final Map<String, byte[]> extended = new TreeMap<>();

        Node(long inode, int mode) {
            this.inode = inode;
            this.mode = mode;
        }

        boolean isDirectory() {
            return FileMode.isDirectory(mode);
        }

        Attributes attributes() {
            return new Attributes(
                    inode,
                    1,
                    mode,
                    links,
                    uid,
                    gid,
                    device,
                    size,
                    (size + 511) / 512,
                    accessedNs,
                    modifiedNs,
                    changedNs,
                    BORN_S * 1_000_000_000);
        }
    }

    private record Entry(String name, long inode, long cookie) {}

    public MemoryFileSystem() {
        Node root = new Node(ROOT, FileMode.DIRECTORY | 0755);
        root.links = 2;
        root.parent = ROOT;
        nodes.put(ROOT, root);
    }

    private static long now() {
        return System.currentTimeMillis() * 1_000_000;
    }

    /** References given and not given back. */
    public synchronized long referencesHeld() {
        return nodes.values().stream().mapToLong(node -> node.references).sum();
    }

    /** Inodes, those included that have no name and are only kept in use. */
    public synchronized int inodes() {
        return nodes.size();
    }

    public synchronized boolean hasEnded() {
        return ended;
    }

    private static String text(byte[] bytes) {
        return new String(bytes, StandardCharsets.ISO_8859_1);
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.ISO_8859_1);
    }

    private static PosixException refused(Reason reason) {
        return new PosixException(reason, "in memory");
    }

    private Node node(long inode) throws PosixException {
        Node node = nodes.get(inode);
        if (node == null) {
            throw refused(Reason.ESTALE);
        }
        return node;
    }

    private Node directory(long inode) throws PosixException {
        Node node = node(inode);
        if (!node.isDirectory()) {
            throw refused(Reason.ENOTDIR);
        }
        return node;
    }

    private static Entry entry(Node directory, byte[] name) throws PosixException {
        Entry entry = directory.entries.get(text(name));
        if (entry == null) {
            throw refused(Reason.ENOENT);
        }
        return entry;
    }

    private void putEntry(Node directory, byte[] name, long inode) {
        Entry entry = new Entry(text(name), inode, ++lastCookie);
        directory.entries.put(entry.name, entry);
        directory.entriesByCookie.put(entry.cookie, entry);
        touch(directory);
    }

    private static void removeEntry(Node directory, Entry entry) {
        directory.entries.remove(entry.name);
        directory.entriesByCookie.remove(entry.cookie);
        touch(directory);
    }

    private static void touch(Node node) {
        node.modifiedNs = now();
        node.changedNs = node.modifiedNs;
    }

    private void dropIfUnused(Node node) {
        if (node.links == 0 && node.references == 0 && node.openings == 0) {
            nodes.remove(node.inode);
        }
    }

    @Override
    public synchronized Attributes lookup(long directory, byte[] name) throws IOException {
        Node found = node(entry(directory(directory), name).inode);
        found.references++;
        return found.attributes();
    }

    @Override
    public synchronized void forget(long inode, long references) {
        Node node = nodes.get(inode);
        if (node == null || node.references < references) {
            throw new AssertionError("forgetting " + references + " of inode " + inode);
        }
        node.references -= references;
        dropIfUnused(node);
    }

    @Override
    public synchronized Attributes attributes(long inode) throws IOException {
        return node(inode).attributes();
    }

    @Override
    public synchronized Attributes change(long inode, AttributeChange change) throws IOException {
        Node node = node(inode);
        if (change.size() != null && (node.isDirectory() || change.size() != node.size)) {
            resize(node, change.size());
            touch(node);
        }
        if (change.mode() != null) {
            node.mode = (node.mode & FileMode.TYPE_MASK) | change.mode();
        }
        if (change.uid() != null) {
            node.uid = change.uid();
        }
        if (change.gid() != null) {
            node.gid = change.gid();
        }
        if (change.accessedNs() != null) {
            node.accessedNs = change.accessedNs();
        }
        if (change.modifiedNs() != null) {
            node.modifiedNs = change.modifiedNs();
        }
        node.changedNs = change.changedNs() != null ? change.changedNs() : now();
        return node.attributes();
    }

    private static void resize(Node node, long size) throws PosixException {
        if (node.isDirectory()) {
            throw refused(Reason.EISDIR);
        }
        if (size > MAX_FILE_BYTES) {
            throw refused(Reason.EFBIG);
        }
        if (size < node.size) {
            Arrays.fill(node.data, (int) size, (int) node.size, (byte) 0);
        } else if (size > node.data.length) {
            node.data = Arrays.copyOf(node.data, (int) Math.max(size, Math.min(2L * node.data.length, MAX_FILE_BYTES)));
        }
        node.size = size;
    }

    @Override
    public void dropCapability(long inode) {}

    @Override
    public synchronized byte[] readSymbolicLink(long inode) throws IOException {
        return node(inode).data.clone();
    }

    @Override
    public synchronized Attributes makeNode(long directory, byte[] name, int mode, int device, Owner caller)
            throws IOException {
        Node node = make(directory, name, mode, caller);
        node.device = device;
        return node.attributes();
    }

    @Override
    public synchronized Attributes makeDirectory(long directory, byte[] name, int mode, Owner caller)
            throws IOException {
        Node parent = directory(directory);
        Node node = make(directory, name, FileMode.directoryModeIn(parent.attributes(), mode), caller);
        node.links = 2;
        node.parent = directory;
        parent.links++;
        return node.attributes();
    }

    @Override
    public synchronized Attributes makeSymbolicLink(long directory, byte[] name, byte[] target, Owner caller)
            throws IOException {
        Node node = make(directory, name, FileMode.SYMBOLIC_LINK | 0777, caller);
        node.data = target.clone();
        node.size = target.length;
        return node.attributes();
    }

    private Node make(long directory, byte[] name, int mode, Owner caller) throws PosixException {
        Node parent = directory(directory);
        if (parent.entries.containsKey(text(name))) {
            throw refused(Reason.EEXIST);
        }
        Node node = add(parent, mode, caller);
        node.links = 1;
        putEntry(parent, name, node.inode);
        return node;
    }

    private Node add(Node parent, int mode, Owner caller) {
        Owner owner = FileMode.ownerIn(parent.attributes(), caller);
        boolean masked = (mode & FileMode.TYPE_MASK) != FileMode.SYMBOLIC_LINK;
        Node node = new Node(++lastInode, masked ? mode & ~caller.umask() : mode);
        node.uid = owner.uid();
        node.gid = owner.gid();
        node.references = 1;
        nodes.put(node.inode, node);
        return node;
    }

    @Override
    public synchronized Attributes link(long inode, long directory, byte[] name) throws IOException {
        Node node = node(inode);
        Node parent = directory(directory);
        if (parent.entries.containsKey(text(name))) {
            throw refused(Reason.EEXIST);
        }
        putEntry(parent, name, inode);
        node.links++;
        node.references++;
        return node.attributes();
    }

    @Override
    public synchronized void unlink(long directory, byte[] name) throws IOException {
        Node parent = directory(directory);
        Entry entry = entry(parent, name);
        Node node = node(entry.inode);
        if (node.isDirectory()) {
            throw refused(Reason.EISDIR);
        }
        removeEntry(parent, entry);
        node.links--;
        dropIfUnused(node);
    }

    @Override
    public synchronized void removeDirectory(long directory, byte[] name) throws IOException {
        Node parent = directory(directory);
        Entry entry = entry(parent, name);
        Node node = directory(entry.inode);
        if (!node.entries.isEmpty()) {
            throw refused(Reason.ENOTEMPTY);
        }
        removeEntry(parent, entry);
        parent.links--;
        node.links = 0;
        dropIfUnused(node);
    }

    @Override
    public synchronized void rename(long directory, byte[] name, long newDirectory, byte[] newName, RenameMode mode)
            throws IOException {
        Node from = directory(directory);
        Node to = directory(newDirectory);
        Entry moved = entry(from, name);
        Entry target = to.entries.get(text(newName));
        if (mode == RenameMode.EXCHANGE) {
            exchange(from, moved, to, entry(to, newName));
            return;
        }
        if (target != null && target.inode == moved.inode) {
            return;
        }
        if (target != null) {
            if (mode == RenameMode.NO_REPLACE) {
                throw refused(Reason.EEXIST);
            }
            replace(newDirectory, node(moved.inode), newName, node(target.inode));
        }
        removeEntry(from, moved);
        putEntry(to, newName, moved.inode);
        changeParent(node(moved.inode), from, to);
    }

    private void replace(long directory, Node source, byte[] name, Node target) throws IOException {
        if (target.isDirectory()) {
            if (!source.isDirectory()) {
                throw refused(Reason.EISDIR);
            }
            removeDirectory(directory, name);
        } else {
            if (source.isDirectory()) {
                throw refused(Reason.ENOTDIR);
            }
            unlink(directory, name);
        }
    }

    private void exchange(Node from, Entry first, Node to, Entry second) throws PosixException {
        removeEntry(from, first);
        removeEntry(to, second);
        putEntry(from, bytes(first.name), second.inode);
        putEntry(to, bytes(second.name), first.inode);
        changeParent(node(first.inode), from, to);
        changeParent(node(second.inode), to, from);
    }

    private static void changeParent(Node node, Node from, Node to) {
        if (node.isDirectory()) {
            from.links--;
            to.links++;
            node.parent = to.inode;
        }
    }

    @Override
    public synchronized void list(long directory, long cookie, boolean withAttributes, EntryVisitor visitor)
            throws IOException {
        Node node = directory(directory);
        if (cookie < 1 && !visitor.visit(bytes("."), directory, FileMode.DIRECTORY, 1, null)) {
            return;
        }
        if (cookie < 2 && !visitor.visit(bytes(".."), node.parent, FileMode.DIRECTORY, 2, null)) {
            return;
        }
        for (Entry entry :
                node.entriesByCookie.tailMap(Math.max(cookie, 2), false).values()) {
            Node child = node(entry.inode);
            Attributes attributes = withAttributes ? child.attributes() : null;
            int type = child.mode & FileMode.TYPE_MASK;
            if (!visitor.visit(bytes(entry.name), entry.inode, type, entry.cookie, attributes)) {
                return;
            }
            if (withAttributes) {
                child.references++;
            }
        }
    }

    @Override
    public synchronized long open(long inode, boolean writable, boolean truncate, Owner caller) throws IOException {
        Node node = node(inode);
        if (truncate) {
            change(inode, AttributeChange.ofTruncation(0, Instant.now()));
        }
        node.openings++;
        return openFiles.add(node, 0);
    }

    @Override
    public synchronized CreatedFile create(long directory, byte[] name, int mode, boolean writable, Owner caller)
            throws IOException {
        Attributes made = makeNode(directory, name, mode, 0, caller);
        return new CreatedFile(made, open(made.inode(), writable, false, caller));
    }

    @Override
    public synchronized CreatedFile createUnnamed(long directory, int mode, boolean writable, Owner caller)
            throws IOException {
        Node node = add(directory(directory), mode, caller);
        return new CreatedFile(node.attributes(), open(node.inode, writable, false, caller));
    }

    @Override
    public synchronized int read(long handle, long offset, ByteBuffer target) throws IOException {
        Node node = openFiles.get(handle);
        int count = (int) Math.max(0, Math.min(target.remaining(), node.size - offset));
        if (count > 0) {
            target.put(node.data, (int) offset, count);
        }
        return count;
    }

    @Override
    public synchronized void write(long handle, long offset, ByteBuffer source) throws IOException {
        Node node = openFiles.get(handle);
        int count = source.remaining();
        if (offset + count > node.size) {
            resize(node, offset + count);
        }
        source.get(node.data, (int) offset, count);
        touch(node);
    }

    @Override
    public void writeBack(long handle, long offset, ByteBuffer source) throws IOException {
        write(handle, offset, source);
    }

    /** Returns false: there are no holes, so no byte that arrives late can lie in one. */
    @Override
    public boolean hasWriters(long handle) {
        return false;
    }

    @Override
    public synchronized void allocate(long handle, long offset, long length, boolean keepSize) throws IOException {
        Node node = openFiles.get(handle);
        if (!keepSize && offset + length > node.size) {
            resize(node, offset + length);
        }
        touch(node);
    }

    @Override
    public synchronized void zero(long handle, long offset, long length, boolean keepSize) throws IOException {
        Node node = openFiles.get(handle);
        long end = Math.min(node.size, offset + length);
        if (offset < end) {
            Arrays.fill(node.data, (int) offset, (int) end, (byte) 0);
        }
        allocate(handle, offset, length, keepSize);
    }

    @Override
    public synchronized long seekData(long handle, long offset) throws IOException {
        if (offset < 0 || offset >= openFiles.get(handle).size) {
            throw new PosixException(Reason.ENXIO, "offset " + offset);
        }
        return offset;
    }

    @Override
    public synchronized long seekHole(long handle, long offset) throws IOException {
        seekData(handle, offset);
        return openFiles.get(handle).size;
    }

    @Override
    public synchronized long copy(long source, long from, long target, long to, long length) throws IOException {
        Node node = openFiles.get(source);
        int count = (int) Math.max(0, Math.min(length, node.size - from));
        if (count > 0) {
            byte[] copied = Arrays.copyOfRange(node.data, (int) from, (int) from + count);
            write(target, to, ByteBuffer.wrap(copied));
        }
        return count;
    }

    @Override
    public void flush(long handle) throws IOException {
        openFiles.get(handle);
    }

    @Override
    public void store(long handle) throws IOException {
        openFiles.get(handle);
    }

    @Override
    public void storeAll() {}

    @Override
    public void commit() throws IOException {}

    @Override
    public synchronized void close(long handle) throws IOException {
        Node node = openFiles.remove(handle);
        node.openings--;
        dropIfUnused(node);
    }

    @Override
    public synchronized byte[] extendedAttribute(long inode, byte[] name) throws IOException {
        return node(inode).extended.get(text(name));
    }

    @Override
    public synchronized void setExtendedAttribute(long inode, byte[] name, byte[] value, SetMode mode)
            throws IOException {
        Map<String, byte[]> extended = node(inode).extended;
        boolean exists = extended.containsKey(text(name));
        boolean both = mode == SetMode.CREATE_AND_REPLACE;
        if (exists && (both || mode == SetMode.CREATE)) {
            throw refused(Reason.EEXIST);
        }
        if (!exists && (both || mode == SetMode.REPLACE)) {
            throw refused(Reason.ENODATA);
        }
        extended.put(text(name), value);
    }

    @Override
    public synchronized void removeExtendedAttribute(long inode, byte[] name) throws IOException {
        if (node(inode).extended.remove(text(name)) == null) {
            throw refused(Reason.ENODATA);
        }
    }

    @Override
    public synchronized List<byte[]> extendedAttributes(long inode) throws IOException {
        return node(inode).extended.keySet().stream()
                .map(MemoryFileSystem::bytes)
                .toList();
    }

    @Override
    public synchronized SpaceUse space() {
        return new SpaceUse(1L << 40, 1L << 39, 1L << 39, 1L << 39, nodes.size());
    }

    @Override
    public synchronized void end() {
        ended = true;
        openFiles.removeAll().forEach(node -> node.openings--);
    }
}
