package org.opendedup.sar.model;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.common.PosixException.Reason;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.volume.names.EntryVisitor;
import org.opendedup.sar.volume.posix.AttributeChange;
import org.opendedup.sar.volume.posix.Attributes;
import org.opendedup.sar.volume.posix.Owner;
import org.opendedup.sar.volume.posix.RenameMode;
import org.opendedup.sar.volume.posix.SetMode;

/**
 * A file system in maps of names and arrays of bytes. Errors are checked in Linux's order (fs/namei.c). Inodes without
 * a name stay until {@link #remount()}. For one thread.
 */
public class ModelFileSystem implements FileSystem {
    /** The one moment of all changes; later than any time that an op sets. */
    public static final long NOW_NS = 2_000_000_000L * 1_000_000_000L;

    private final Map<Long, Node> nodes = new HashMap<>();
    private long lastInode = Inode.ROOT;
    /** The folders with quotas, by number. */
    private final Map<Integer, Long> projects = new HashMap<>();

    /** An inode. The fields that do not apply to its type are unused. */
    static final class Node {
        final long inode;
        int mode;
        int links;
        /** Never had a name. */
        boolean unnamed;

        int uid;
        int gid;
        /** Number of the folder with a quota that it is charged to; 0 if there is none. */
        int project;

        long accessedNs = NOW_NS;
        long modifiedNs = NOW_NS;
        SparseBytes bytes = new SparseBytes();
        /** Increases with every change of the bytes. */
        long version;

        byte[] target = {};
        Node parent;
        TreeMap<String, Node> children = new TreeMap<>();
        TreeMap<String, byte[]> attributes = new TreeMap<>();

        Node(long inode, int mode, Owner owner) {
            this.inode = inode;
            this.mode = mode;
            this.uid = owner.uid();
            this.gid = owner.gid();
            this.links = Modes.isDirectory(mode) ? 2 : 1;
        }

        boolean isDirectory() {
            return Modes.isDirectory(mode);
        }

        boolean isBelowOrSame(Node other) {
            for (Node at = this; ; at = at.parent) {
                if (at == other) {
                    return true;
                }
                if (at.parent == at) {
                    return false;
                }
            }
        }

        Attributes toAttributes() {
            long size = Modes.isRegular(mode) ? bytes.size() : target.length;
            return new Attributes(inode, 1, mode, links, uid, gid, 0, size, 0, accessedNs, modifiedNs, NOW_NS, NOW_NS);
        }
    }

    public ModelFileSystem() {
        Node root = new Node(Inode.ROOT, Modes.DIRECTORY | 0755, new Owner(0, 0));
        root.parent = root;
        nodes.put(root.inode, root);
    }

    Node root() {
        return nodes.get(Inode.ROOT);
    }

    Node node(long inode) throws IOException {
        Node node = nodes.get(inode);
        if (node == null) {
            throw new PosixException(Reason.ESTALE, "inode " + inode);
        }
        return node;
    }

    private Node directory(long inode) throws IOException {
        Node node = node(inode);
        check(node.isDirectory(), Reason.ENOTDIR);
        return node;
    }

    /** A directory whose names may change. */
    private Node liveDirectory(long inode) throws IOException {
        Node node = directory(inode);
        check(node.links > 0, Reason.ENOENT);
        return node;
    }

    private static Node child(Node directory, byte[] name) throws IOException {
        Node child = directory.children.get(text(name));
        check(child != null, Reason.ENOENT);
        return child;
    }

    private static void check(boolean allowed, Reason otherwise) throws IOException {
        if (!allowed) {
            throw new PosixException(otherwise, "model");
        }
    }

    private static String text(byte[] name) {
        return new String(name, StandardCharsets.ISO_8859_1);
    }

    private static byte[] bytes(String name) {
        return name.getBytes(StandardCharsets.ISO_8859_1);
    }

    @Override
    public Attributes lookup(long directory, byte[] name) throws IOException {
        return child(directory(directory), name).toAttributes();
    }

    @Override
    public void forget(long inode, long references) {}

    @Override
    public Attributes attributes(long inode) throws IOException {
        return node(inode).toAttributes();
    }

    @Override
    public Attributes change(long inode, AttributeChange change) throws IOException {
        Node node = node(inode);
        if (change.size() != null) {
            check(!node.isDirectory(), Reason.EISDIR);
            boolean changes = node.bytes.size() != change.size();
            node.bytes.truncate(change.size());
            node.version++;
            node.modifiedNs = changes ? NOW_NS : node.modifiedNs;
        }
        node.mode = change.mode() == null ? node.mode : node.mode & Modes.TYPE | change.mode() & ~Modes.TYPE;
        node.uid = change.uid() == null ? node.uid : change.uid();
        node.gid = change.gid() == null ? node.gid : change.gid();
        node.accessedNs = change.accessedNs() == null ? node.accessedNs : change.accessedNs();
        node.modifiedNs = change.modifiedNs() == null ? node.modifiedNs : change.modifiedNs();
        return node.toAttributes();
    }

    @Override
    public Attributes makeNode(long directory, byte[] name, int mode, int device, Owner owner) throws IOException {
        return make(directory, name, mode, owner).toAttributes();
    }

    @Override
    public Attributes makeUnnamed(long directory, int mode, Owner owner) throws IOException {
        directory(directory);
        Node node = new Node(++lastInode, Modes.REGULAR | mode, owner);
        node.links = 0;
        node.project = directory(directory).project;
        node.unnamed = true;
        nodes.put(node.inode, node);
        return node.toAttributes();
    }

    @Override
    public Attributes makeDirectory(long directory, byte[] name, int mode, Owner owner) throws IOException {
        return make(directory, name, Modes.DIRECTORY | mode & ~Modes.TYPE, owner)
                .toAttributes();
    }

    @Override
    public Attributes makeSymbolicLink(long directory, byte[] name, byte[] target, Owner owner) throws IOException {
        Node node = make(directory, name, Modes.SYMBOLIC_LINK | 0777, owner);
        node.target = target.clone();
        return node.toAttributes();
    }

    private Node make(long directory, byte[] name, int mode, Owner owner) throws IOException {
        Node parent = liveDirectory(directory);
        check(!parent.children.containsKey(text(name)), Reason.EEXIST);
        Node node = new Node(++lastInode, mode, owner);
        node.project = parent.project;
        nodes.put(node.inode, node);
        attach(parent, name, node);
        return node;
    }

    private static void attach(Node parent, byte[] name, Node node) {
        parent.children.put(text(name), node);
        parent.modifiedNs = NOW_NS;
        if (node.isDirectory()) {
            node.parent = parent;
            parent.links++;
        }
    }

    private static void detach(Node parent, byte[] name, Node node) {
        parent.children.remove(text(name));
        parent.modifiedNs = NOW_NS;
        if (node.isDirectory()) {
            parent.links--;
        }
    }

    @Override
    public byte[] readSymbolicLink(long inode) throws IOException {
        Node node = node(inode);
        check((node.mode & Modes.TYPE) == Modes.SYMBOLIC_LINK, Reason.EINVAL);
        return node.target.clone();
    }

    @Override
    public Attributes link(long inode, long directory, byte[] name) throws IOException {
        Node node = node(inode);
        Node parent = liveDirectory(directory);
        check(!parent.children.containsKey(text(name)), Reason.EEXIST);
        check(!node.isDirectory(), Reason.EPERM);
        check(node.links > 0 || node.unnamed, Reason.ENOENT);
        check(node.project == parent.project, Reason.EXDEV);
        attach(parent, name, node);
        node.links++;
        node.unnamed = false;
        return node.toAttributes();
    }

    @Override
    public void unlink(long directory, byte[] name) throws IOException {
        Node parent = directory(directory);
        Node node = child(parent, name);
        check(!node.isDirectory(), Reason.EISDIR);
        detach(parent, name, node);
        node.links--;
    }

    @Override
    public void removeDirectory(long directory, byte[] name) throws IOException {
        Node parent = directory(directory);
        Node node = child(parent, name);
        check(node.isDirectory(), Reason.ENOTDIR);
        check(node.children.isEmpty(), Reason.ENOTEMPTY);
        detach(parent, name, node);
        node.links = 0;
    }

    @Override
    public void rename(long directory, byte[] name, long newDirectory, byte[] newName, RenameMode mode)
            throws IOException {
        Node from = liveDirectory(directory);
        Node to = liveDirectory(newDirectory);
        Node moved = child(from, name);
        Node target = to.children.get(text(newName));
        check(target == null || mode != RenameMode.NO_REPLACE, Reason.EEXIST);
        check(target != null || mode != RenameMode.EXCHANGE, Reason.ENOENT);
        check(from.project == to.project, Reason.EXDEV);
        check(!moved.isDirectory() || !to.isBelowOrSame(moved), Reason.EINVAL);
        if (mode == RenameMode.EXCHANGE) {
            check(!target.isDirectory() || !from.isBelowOrSame(target), Reason.EINVAL);
        }
        if (moved == target) {
            return;
        }
        if (target != null && mode == RenameMode.REPLACE) {
            replace(to, newName, target, moved);
        }
        detach(from, name, moved);
        if (mode == RenameMode.EXCHANGE) {
            detach(to, newName, target);
            attach(from, name, target);
        }
        attach(to, newName, moved);
    }

    @Override
    public void renameLeavingWhiteout(long directory, byte[] name, long newDirectory, byte[] newName, Owner owner)
            throws IOException {
        rename(directory, name, newDirectory, newName, RenameMode.REPLACE);
        // Two names of one file stay as they are.
        if (!directory(directory).children.containsKey(text(name))) {
            make(directory, name, Modes.CHARACTER_DEVICE, owner);
        }
    }

    private static void replace(Node parent, byte[] name, Node target, Node by) throws IOException {
        check(!by.isDirectory() || target.isDirectory(), Reason.ENOTDIR);
        check(by.isDirectory() || !target.isDirectory(), Reason.EISDIR);
        check(target.children.isEmpty(), Reason.ENOTEMPTY);
        detach(parent, name, target);
        target.links = target.isDirectory() ? 0 : target.links - 1;
    }

    @Override
    public void list(long directory, long cookie, boolean withAttributes, EntryVisitor visitor) throws IOException {
        Node node = directory(directory);
        List<String> names = new ArrayList<>(List.of(".", ".."));
        names.addAll(node.children.keySet());
        for (int i = (int) cookie; i < names.size(); i++) {
            Node entry = i == 0 ? node : i == 1 ? node.parent : node.children.get(names.get(i));
            Attributes attributes = withAttributes && i > 1 ? entry.toAttributes() : null;
            if (!visitor.visit(bytes(names.get(i)), entry.inode, entry.mode & Modes.TYPE, i + 1, attributes)) {
                return;
            }
        }
    }

    @Override
    public Handle open(long inode, boolean writable) throws IOException {
        Node node = node(inode);
        check(!node.isDirectory(), Reason.EISDIR);
        return new ModelHandle(node);
    }

    @Override
    public void sync() throws IOException {}

    @Override
    public void chargeFolder(long inode) throws IOException {
        Node folder = directory(inode);
        if (!Objects.equals(projects.get(folder.project), inode)) {
            folder.project = projects.size() + 1;
            projects.put(folder.project, inode);
        }
        charge(folder, folder.parent == folder ? 0 : folder.parent.project);
    }

    private static void charge(Node folder, int from) {
        for (Node child : folder.children.values()) {
            child.project = child.project == from ? folder.project : child.project;
            if (child.isDirectory() && child.project == folder.project) {
                charge(child, from);
            }
        }
    }

    @Override
    public List<String> usage() {
        TreeMap<String, Integer> sums = new TreeMap<>();
        TreeMap<Integer, Integer> folders = new TreeMap<>();
        for (Node node : nodes.values()) {
            if (node.links > 0) {
                sums.merge("user " + node.uid, 1, Integer::sum);
                sums.merge("group " + node.gid, 1, Integer::sum);
                folders.merge(node.project, 1, Integer::sum);
            }
        }
        folders.remove(0);
        List<String> lines = new ArrayList<>();
        sums.forEach((who, files) -> lines.add(who + ": " + files));
        lines.sort(null);
        // Their numbers are those of the volume.
        folders.values().stream().sorted().forEach(files -> lines.add("folder: " + files));
        return lines;
    }

    @Override
    public byte[] extendedAttribute(long inode, byte[] name) throws IOException {
        byte[] value = node(inode).attributes.get(text(name));
        return value == null ? null : value.clone();
    }

    @Override
    public void setExtendedAttribute(long inode, byte[] name, byte[] value, SetMode mode) throws IOException {
        Node node = node(inode);
        boolean exists = node.attributes.containsKey(text(name));
        boolean both = mode == SetMode.CREATE_AND_REPLACE;
        check(!exists || !both && mode != SetMode.CREATE, Reason.EEXIST);
        check(exists || !both && mode != SetMode.REPLACE, Reason.ENODATA);
        node.attributes.put(text(name), value.clone());
    }

    @Override
    public void removeExtendedAttribute(long inode, byte[] name) throws IOException {
        check(node(inode).attributes.remove(text(name)) != null, Reason.ENODATA);
    }

    @Override
    public List<byte[]> extendedAttributes(long inode) throws IOException {
        return node(inode).attributes.keySet().stream()
                .map(ModelFileSystem::bytes)
                .toList();
    }

    @Override
    public void remount() throws IOException {
        nodes.values().removeIf(node -> node.links == 0);
    }

    @Override
    public List<String> problems() {
        return List.of();
    }

    @Override
    public void close() throws IOException {}

    /** All inodes, with a name or without. */
    public Set<Long> inodes() {
        return nodes.keySet();
    }

    /** The present bytes of a regular file. */
    public SparseBytes contents(long inode) {
        return nodes.get(inode).bytes.copy();
    }

    /** A number that increases with every change of a file's bytes. */
    public long version(long inode) {
        return nodes.get(inode).version;
    }

    /** Gives the next new inode this number, which no other inode has. */
    public void numberNext(long inode) {
        lastInode = inode - 1;
    }

    /** Everything except times, as text: two models with the same text return the same results. */
    public String describe() {
        StringBuilder description = new StringBuilder();
        for (Node node : new TreeMap<>(nodes).values()) {
            description.append(node.toAttributes()).append(' ').append(new String(node.target, StandardCharsets.UTF_8));
            node.children.forEach((name, child) ->
                    description.append(" entry ").append(name).append('=').append(child.inode));
            node.attributes.forEach((name, value) ->
                    description.append(" attribute ").append(name).append('=').append(text(value)));
            description.append(' ').append(node.bytes.describe()).append('\n');
        }
        return description.toString();
    }

    /** An independent copy of the model, with every byte, name and inode number. */
    public ModelFileSystem copy() {
        ModelFileSystem copy = new ModelFileSystem();
        copy.lastInode = lastInode;
        copy.projects.putAll(projects);
        nodes.values().forEach(node -> copy.nodes.put(node.inode, copyWithoutLinks(node)));
        for (Node node : nodes.values()) {
            Node copied = copy.nodes.get(node.inode);
            copied.parent = node.parent == null ? null : copy.nodes.get(node.parent.inode);
            node.children.forEach((name, child) -> copied.children.put(name, copy.nodes.get(child.inode)));
        }
        return copy;
    }

    private static Node copyWithoutLinks(Node node) {
        Node copy = new Node(node.inode, node.mode, new Owner(node.uid, node.gid));
        copy.links = node.links;
        copy.project = node.project;
        copy.unnamed = node.unnamed;
        copy.accessedNs = node.accessedNs;
        copy.modifiedNs = node.modifiedNs;
        copy.bytes = node.bytes.copy();
        copy.version = node.version;
        copy.target = node.target;
        copy.attributes = new TreeMap<>(node.attributes);
        return copy;
    }

    /** A handle; a write of nothing changes nothing. */
    private record ModelHandle(Node node) implements Handle {
        @Override
        public int read(long offset, ByteBuffer target) {
            byte[] read = node.bytes.read(offset, target.remaining());
            target.put(read);
            return read.length;
        }

        @Override
        public void write(long offset, ByteBuffer source) {
            byte[] written = new byte[source.remaining()];
            source.get(written);
            if (written.length > 0) {
                node.bytes.write(offset, written);
                changed();
            }
        }

        @Override
        public void allocate(long offset, long length, boolean keepSize) throws IOException {
            check(length > 0, Reason.EINVAL);
            if (!keepSize && offset + length > node.bytes.size()) {
                node.bytes.truncate(offset + length);
            }
            changed();
        }

        @Override
        public void zero(long offset, long length, boolean keepSize) throws IOException {
            check(length > 0, Reason.EINVAL);
            node.bytes.zero(offset, offset + length);
            allocate(offset, length, keepSize);
        }

        /** All of a file is data: a file system that finds no holes is also correct. */
        @Override
        public long seekData(long offset) throws IOException {
            check(offset < node.bytes.size(), Reason.ENXIO);
            return offset;
        }

        @Override
        public long seekHole(long offset) throws IOException {
            check(offset < node.bytes.size(), Reason.ENXIO);
            return node.bytes.size();
        }

        @Override
        public long copy(long from, Handle target, long to, long length) throws IOException {
            Node targetNode = ((ModelHandle) target).node;
            byte[] copied = node.bytes.read(from, (int) length);
            check(
                    node != targetNode
                            || from + copied.length <= to
                            || to + copied.length <= from
                            || copied.length == 0,
                    Reason.EINVAL);
            target.write(to, ByteBuffer.wrap(copied));
            return copied.length;
        }

        private void changed() {
            node.version++;
            node.modifiedNs = NOW_NS;
        }

        @Override
        public void flush() {}

        @Override
        public void sync(boolean dataOnly) {}

        @Override
        public void close() {}
    }
}
