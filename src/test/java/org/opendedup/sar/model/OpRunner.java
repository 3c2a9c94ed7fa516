package org.opendedup.sar.model;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.opendedup.sar.common.NoSpaceException;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.volume.posix.AttributeChange;
import org.opendedup.sar.volume.posix.Attributes;
import org.opendedup.sar.volume.posix.Owner;

/**
 * Executes ops on a file system like a kernel: it walks paths by lookup, forgets the looked-up inodes, and keeps
 * handles in a few slots. Every result is a line of text that is the same for every correct file system: it contains no
 * inode numbers, and only those times that an op has set.
 */
public final class OpRunner {
    public static final int SLOTS = 4;

    private final FileSystem fileSystem;
    private final Slot[] slots = new Slot[SLOTS];

    private record Slot(long inode, FileSystem.Handle handle) {}

    public OpRunner(FileSystem fileSystem) {
        this.fileSystem = fileSystem;
    }

    /** The op's result, or the reason of its refusal. A result that begins with {@code FAILED} is never right. */
    public String run(Op op) {
        try (Walk walk = new Walk(fileSystem)) {
            return answer(op, walk);
        } catch (PosixException e) {
            return e.reason().name();
        } catch (NoSpaceException e) {
            return "ENOSPC";
        } catch (IOException | RuntimeException | AssertionError e) {
            return "FAILED: " + e;
        }
    }

    private String answer(Op op, Walk walk) throws IOException {
        if (op instanceof Op.Create create) {
            int mode = Modes.REGULAR | create.mode();
            return show(walk.made(fileSystem.makeNode(
                    walk.parent(create.path()), walk.name(create.path()), mode, 0, OpGenerator.OWNER)));
        } else if (op instanceof Op.MakeFifo fifo) {
            return show(walk.made(fileSystem.makeNode(
                    walk.parent(fifo.path()), walk.name(fifo.path()), Modes.FIFO | 0600, 0, OpGenerator.OWNER)));
        } else if (op instanceof Op.MakeDirectory make) {
            return show(walk.made(fileSystem.makeDirectory(
                    walk.parent(make.path()), walk.name(make.path()), make.mode(), OpGenerator.OWNER)));
        } else if (op instanceof Op.MakeSymbolicLink make) {
            Owner owner = OpGenerator.OWNER;
            return show(walk.made(fileSystem.makeSymbolicLink(
                    walk.parent(make.path()), walk.name(make.path()), text(make.target()), owner)));
        } else if (op instanceof Op.Link link) {
            long inode = walk.inode(link.existing());
            return show(walk.made(fileSystem.link(inode, walk.parent(link.path()), walk.name(link.path()))));
        } else if (op instanceof Op.LinkUnnamed link) {
            return linkUnnamed(link, walk);
        } else if (op instanceof Op.Unlink unlink) {
            fileSystem.unlink(walk.parent(unlink.path()), walk.name(unlink.path()));
            return "unlinked";
        } else if (op instanceof Op.RemoveDirectory remove) {
            fileSystem.removeDirectory(walk.parent(remove.path()), walk.name(remove.path()));
            return "removed";
        } else if (op instanceof Op.Rename rename) {
            long from = walk.parent(rename.from());
            long to = walk.parent(rename.to());
            fileSystem.rename(from, walk.name(rename.from()), to, walk.name(rename.to()), rename.mode());
            return "renamed";
        } else if (op instanceof Op.RenameLeavingWhiteout rename) {
            long from = walk.parent(rename.from());
            long to = walk.parent(rename.to());
            byte[] name = walk.name(rename.from());
            fileSystem.renameLeavingWhiteout(from, name, to, walk.name(rename.to()), OpGenerator.OWNER);
            return "renamed";
        }
        return answerOnFile(op, walk);
    }

    private String answerOnFile(Op op, Walk walk) throws IOException {
        if (op instanceof Op.Read read) {
            return onOpened(walk, read.path(), false, handle -> read(handle, read.offset(), read.length()));
        } else if (op instanceof Op.Write write) {
            return onOpened(walk, write.path(), true, handle -> write(handle, write.offset(), write.content()));
        } else if (op instanceof Op.Append append) {
            long end = walk.attributes(append.path()).size();
            return onOpened(walk, append.path(), true, handle -> write(handle, end, append.content()));
        } else if (op instanceof Op.Allocate allocate) {
            return onOpened(walk, allocate.path(), true, handle -> {
                handle.allocate(allocate.offset(), allocate.length(), allocate.keepSize());
                return "allocated";
            });
        } else if (op instanceof Op.Zero zero) {
            return onOpened(walk, zero.path(), true, handle -> {
                handle.zero(zero.offset(), zero.length(), zero.keepSize());
                return "zeroed";
            });
        } else if (op instanceof Op.CopyRange copy) {
            return onOpened(
                    walk,
                    copy.source(),
                    false,
                    source -> onOpened(
                            walk,
                            copy.target(),
                            true,
                            target -> copied(source.copy(copy.from(), target, copy.to(), copy.length()))));
        } else if (op instanceof Op.SeekHoles seek) {
            long size = walk.attributes(seek.path()).size();
            return onOpened(walk, seek.path(), false, handle -> HoleWalk.check(handle, seek.offset(), size));
        } else if (op instanceof Op.SyncFile sync) {
            return onOpened(walk, sync.path(), false, handle -> sync(handle, sync.dataOnly()));
        } else if (op instanceof Op.Truncate truncate) {
            return truncate(walk.attributes(truncate.path()), truncate.size());
        } else if (op instanceof Op.ChangeMode change) {
            return show(fileSystem.change(walk.inode(change.path()), AttributeChange.ofMode(change.mode())));
        } else if (op instanceof Op.ChangeOwner change) {
            return show(fileSystem.change(
                    walk.inode(change.path()),
                    new AttributeChange(null, change.uid(), change.gid(), null, null, null, null)));
        } else if (op instanceof Op.ChargeFolder charge) {
            fileSystem.chargeFolder(walk.inode(charge.path()));
            return "charged";
        } else if (op instanceof Op.ChangeTimes change) {
            Attributes changed = fileSystem.change(
                    walk.inode(change.path()),
                    new AttributeChange(null, null, null, null, change.accessedNs(), change.modifiedNs(), null));
            return show(changed) + " accessed " + changed.accessedNs();
        } else if (op instanceof Op.SetAttribute set) {
            fileSystem.setExtendedAttribute(walk.inode(set.path()), text(set.name()), text(set.value()), set.mode());
            return "set";
        } else if (op instanceof Op.RemoveAttribute remove) {
            fileSystem.removeExtendedAttribute(walk.inode(remove.path()), text(remove.name()));
            return "removed";
        } else if (op instanceof Op.Stat stat) {
            return show(walk.attributes(stat.path()));
        } else if (op instanceof Op.ReadLink read) {
            Attributes attributes = walk.attributes(read.path());
            boolean isLink = (attributes.mode() & Modes.TYPE) == Modes.SYMBOLIC_LINK;
            return isLink ? text(fileSystem.readSymbolicLink(attributes.inode())) : "no link";
        } else if (op instanceof Op.ListDirectory list) {
            return list(walk.inode(list.path()), list.step(), list.withAttributes());
        }
        return answerOnHandle(op, walk);
    }

    private String answerOnHandle(Op op, Walk walk) throws IOException {
        if (op instanceof Op.Open open) {
            return open(open, walk);
        } else if (op instanceof Op.Close close) {
            closeSlot(close.slot());
            return "closed";
        } else if (op instanceof Op.ReadHandle read) {
            return onSlot(read.slot(), handle -> read(handle, read.offset(), read.length()));
        } else if (op instanceof Op.WriteHandle write) {
            return onSlot(write.slot(), handle -> write(handle, write.offset(), write.content()));
        } else if (op instanceof Op.CopyHandle copy) {
            return onSlot(
                    copy.source(),
                    source -> onSlot(
                            copy.target(),
                            target -> copied(source.copy(copy.from(), target, copy.to(), copy.length()))));
        } else if (op instanceof Op.SyncHandle sync) {
            return onSlot(sync.slot(), handle -> sync(handle, sync.dataOnly()));
        } else if (op instanceof Op.StatHandle stat) {
            Slot slot = slots[stat.slot()];
            return slot == null ? "no handle" : show(fileSystem.attributes(slot.inode));
        } else if (op instanceof Op.SyncAll) {
            fileSystem.sync();
            return "synced";
        } else if (op instanceof Op.Verify) {
            return String.join("\n", new Listing(fileSystem).withContents());
        } else if (op instanceof Op.Remount) {
            closeAll();
            fileSystem.remount();
            return "remounted, problems " + fileSystem.problems();
        } else if (op instanceof Op.Usage) {
            return "used " + fileSystem.usage();
        }
        throw new AssertionError(op);
    }

    private String linkUnnamed(Op.LinkUnnamed link, Walk walk) throws IOException {
        long parent = walk.parent(link.path());
        long inode = walk.made(fileSystem.makeUnnamed(parent, link.mode(), OpGenerator.OWNER))
                .inode();
        try (FileSystem.Handle handle = fileSystem.open(inode, true)) {
            write(handle, 0, link.content());
            handle.flush();
        }
        return show(walk.made(fileSystem.link(inode, parent, walk.name(link.path()))));
    }

    private String truncate(Attributes attributes, long size) throws IOException {
        // The kernel truncates only regular files; a truncation to the same size may or may not change the times.
        if (!Modes.isRegular(attributes.mode()) || attributes.size() == size) {
            return "not truncated";
        }
        return show(fileSystem.change(attributes.inode(), AttributeChange.ofSize(size)));
    }

    /** The action on an opened file. */
    @FunctionalInterface
    private interface OnHandle {
        String apply(FileSystem.Handle handle) throws IOException;
    }

    private String onOpened(Walk walk, String path, boolean writable, OnHandle action) throws IOException {
        Attributes attributes = walk.attributes(path);
        if (!Modes.isRegular(attributes.mode()) && !Modes.isDirectory(attributes.mode())) {
            return "the kernel opens it by itself";
        }
        try (FileSystem.Handle handle = fileSystem.open(attributes.inode(), writable)) {
            String answer = action.apply(handle);
            handle.flush();
            return answer;
        }
    }

    private String onSlot(int slot, OnHandle action) throws IOException {
        return slots[slot] == null ? "no handle" : action.apply(slots[slot].handle);
    }

    private String open(Op.Open open, Walk walk) throws IOException {
        Attributes attributes = walk.attributes(open.path());
        if (!Modes.isRegular(attributes.mode())) {
            return "not opened";
        }
        closeSlot(open.slot());
        // All slots are opened for writing: the kernel refuses calls on a read-only handle.
        FileSystem.Handle handle = fileSystem.open(attributes.inode(), true);
        walk.keep(attributes.inode());
        slots[open.slot()] = new Slot(attributes.inode(), handle);
        return "opened";
    }

    private void closeSlot(int slot) throws IOException {
        Slot closed = slots[slot];
        slots[slot] = null;
        if (closed != null) {
            try (FileSystem.Handle handle = closed.handle) {
                handle.flush();
            } finally {
                fileSystem.forget(closed.inode, 1);
            }
        }
    }

    /** Closes every handle, like the end of a process. */
    public void closeAll() throws IOException {
        for (int slot = 0; slot < SLOTS; slot++) {
            closeSlot(slot);
        }
    }

    private static String read(FileSystem.Handle handle, long offset, int length) throws IOException {
        ByteBuffer target = ByteBuffer.allocate(length);
        int read = handle.read(offset, target);
        if (read != target.position()) {
            return "FAILED: read says " + read + " bytes, and moved the position by " + target.position();
        }
        return read + " bytes " + Listing.digest(target.array(), read);
    }

    private static String write(FileSystem.Handle handle, long offset, Content content) throws IOException {
        handle.write(offset, ByteBuffer.wrap(content.bytes()));
        return "written";
    }

    private static String copied(long bytes) {
        return bytes + " bytes copied";
    }

    private static String sync(FileSystem.Handle handle, boolean dataOnly) throws IOException {
        handle.sync(dataOnly);
        return "synced";
    }

    /** Lists {@code step} entries at a time; reports an entry that appears twice. */
    private String list(long directory, int step, boolean withAttributes) throws IOException {
        TreeSet<String> lines = new TreeSet<>();
        Set<String> names = new HashSet<>();
        long cookie = 0;
        while (true) {
            List<Listing.Entry> entries = Listing.list(fileSystem, directory, cookie, step, withAttributes);
            if (entries.isEmpty()) {
                return lines.toString();
            }
            for (Listing.Entry entry : entries) {
                if (!names.add(entry.name())) {
                    return "FAILED: " + entry.name() + " listed twice";
                }
                String shown = entry.attributes() == null ? "" : show(entry.attributes());
                lines.add(entry.name() + " type " + Integer.toOctalString(entry.type()) + shown);
            }
            cookie = entries.get(entries.size() - 1).cookie();
        }
    }

    static String show(Attributes attributes) {
        boolean directory = Modes.isDirectory(attributes.mode());
        return " mode " + Integer.toOctalString(attributes.mode()) + " links " + attributes.links() + " owner "
                + attributes.uid() + ":" + attributes.gid() + (directory ? "" : " size " + attributes.size())
                + " modified " + showTime(attributes.modifiedNs());
    }

    /** Ops set times in the last century; any other is the moment of a change. */
    private static String showTime(long timeNs) {
        return timeNs < OpGenerator.CENTURY_NS ? Long.toString(timeNs) : "now";
    }

    private static byte[] text(String text) {
        return text.getBytes(StandardCharsets.ISO_8859_1);
    }

    private static String text(byte[] bytes) {
        return new String(bytes, StandardCharsets.ISO_8859_1);
    }

    /** The references one op holds; closing releases them. */
    static final class Walk implements AutoCloseable {
        private final FileSystem fileSystem;
        private final List<Long> held = new ArrayList<>();

        Walk(FileSystem fileSystem) {
            this.fileSystem = fileSystem;
        }

        byte[] name(String path) {
            return text(path.substring(path.lastIndexOf('/') + 1));
        }

        long parent(String path) throws IOException {
            int end = path.lastIndexOf('/');
            return end < 0 ? Inode.ROOT : inode(path.substring(0, end));
        }

        long inode(String path) throws IOException {
            return attributes(path).inode();
        }

        /** The empty path is the root. */
        Attributes attributes(String path) throws IOException {
            if (path.isEmpty()) {
                return fileSystem.attributes(Inode.ROOT);
            }
            return made(fileSystem.lookup(parent(path), name(path)));
        }

        Attributes made(Attributes attributes) {
            held.add(attributes.inode());
            return attributes;
        }

        /** Leaves one reference to the caller. */
        void keep(long inode) {
            held.remove(inode);
        }

        @Override
        public void close() {
            held.forEach(inode -> fileSystem.forget(inode, 1));
        }
    }
}
