package org.opendedup.sar.concurrent;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.model.FileSystem;
import org.opendedup.sar.model.Modes;
import org.opendedup.sar.volume.posix.AttributeChange;
import org.opendedup.sar.volume.posix.Attributes;
import org.opendedup.sar.volume.posix.Owner;

/**
 * Makes calls of a file system, and turns the results into text. The caller must forget the references that a call
 * retains.
 */
final class Caller {
    private static final Owner OWNER = new Owner(1000, 100);

    private final FileSystem fileSystem;

    Caller(FileSystem fileSystem) {
        this.fileSystem = fileSystem;
    }

    Answer call(Call call) {
        try {
            return answer(call);
        } catch (PosixException e) {
            return Answer.refused(e.reason().name());
        } catch (IOException | RuntimeException | AssertionError e) {
            return Answer.failed(e);
        }
    }

    private Answer answer(Call call) throws IOException {
        if (call instanceof Call.Lookup lookup) {
            return retained(fileSystem.lookup(lookup.directory(), bytes(lookup.name())));
        } else if (call instanceof Call.Stat stat) {
            return shown(fileSystem.attributes(stat.inode()));
        } else if (call instanceof Call.Length length) {
            return Answer.of("length")
                    .withSize(fileSystem.attributes(length.inode()).size());
        } else if (call instanceof Call.ReadLink read) {
            return Answer.of(text(fileSystem.readSymbolicLink(read.inode())));
        } else if (call instanceof Call.Listed listed) {
            return list(listed.directory()).getOrDefault(listed.name(), NOT_LISTED);
        } else if (call instanceof Call.ChangeMode change) {
            return shown(fileSystem.change(change.inode(), AttributeChange.ofMode(change.mode())));
        } else if (call instanceof Call.ChangeOwner change) {
            AttributeChange owner = new AttributeChange(null, change.uid(), null, null, null, null, null);
            return shown(fileSystem.change(change.inode(), owner));
        } else if (call instanceof Call.Truncate truncate) {
            // The attributes are from a moment after the truncation.
            fileSystem.change(truncate.inode(), AttributeChange.ofSize(truncate.size()));
            return Answer.of("truncated");
        } else if (call instanceof Call.GetAttribute get) {
            byte[] value = fileSystem.extendedAttribute(get.inode(), bytes(get.name()));
            return Answer.of(value == null ? "no attribute" : text(value));
        } else if (call instanceof Call.SetAttribute set) {
            fileSystem.setExtendedAttribute(set.inode(), bytes(set.name()), bytes(set.value()), set.mode());
            return Answer.of("set");
        } else if (call instanceof Call.RemoveAttribute remove) {
            fileSystem.removeExtendedAttribute(remove.inode(), bytes(remove.name()));
            return Answer.of("removed");
        }
        return answerOnNames(call);
    }

    private Answer answerOnNames(Call call) throws IOException {
        if (call instanceof Call.Make make) {
            return retained(fileSystem.makeNode(make.directory(), bytes(make.name()), Modes.REGULAR | 0644, 0, OWNER));
        } else if (call instanceof Call.MakeDirectory make) {
            return retained(fileSystem.makeDirectory(make.directory(), bytes(make.name()), 0755, OWNER));
        } else if (call instanceof Call.MakeSymbolicLink make) {
            return retained(
                    fileSystem.makeSymbolicLink(make.directory(), bytes(make.name()), bytes(make.target()), OWNER));
        } else if (call instanceof Call.Link link) {
            return retained(fileSystem.link(link.inode(), link.directory(), bytes(link.name())));
        } else if (call instanceof Call.Unlink unlink) {
            fileSystem.unlink(unlink.directory(), bytes(unlink.name()));
            return Answer.of("unlinked");
        } else if (call instanceof Call.RemoveDirectory remove) {
            fileSystem.removeDirectory(remove.directory(), bytes(remove.name()));
            return Answer.of("removed");
        } else if (call instanceof Call.Rename rename) {
            byte[] name = bytes(rename.name());
            byte[] newName = bytes(rename.newName());
            fileSystem.rename(rename.directory(), name, rename.newDirectory(), newName, rename.mode());
            return Answer.of("renamed");
        }
        return answerOnBytes(call);
    }

    private Answer answerOnBytes(Call call) throws IOException {
        if (call instanceof Call.Read read) {
            return opened(read.inode(), handle -> read(handle, read.offset(), read.length()));
        } else if (call instanceof Call.Write write) {
            return opened(write.inode(), handle -> write(handle, write.offset(), write.text()));
        } else if (call instanceof Call.Zero zero) {
            return opened(zero.inode(), handle -> {
                handle.zero(zero.offset(), zero.length(), true);
                return "zeroed";
            });
        } else if (call instanceof Call.SyncFile sync) {
            return opened(sync.inode(), handle -> {
                handle.sync(false);
                return "synced";
            });
        } else if (call instanceof Call.SyncAll) {
            fileSystem.sync();
            return Answer.of("synced");
        }
        throw new AssertionError(call);
    }

    /** The action on an opened file. */
    @FunctionalInterface
    private interface OnHandle {
        String apply(FileSystem.Handle handle) throws IOException;
    }

    private Answer opened(long inode, OnHandle action) throws IOException {
        try (FileSystem.Handle handle = fileSystem.open(inode, true)) {
            return Answer.of(action.apply(handle));
        }
    }

    private static String read(FileSystem.Handle handle, long offset, int length) throws IOException {
        ByteBuffer target = ByteBuffer.allocate(length);
        int read = handle.read(offset, target);
        return read + " bytes: " + text(target.array()).substring(0, read).replace('\0', '.');
    }

    private static String write(FileSystem.Handle handle, long offset, String text) throws IOException {
        handle.write(offset, ByteBuffer.wrap(bytes(text)));
        return "written";
    }

    static final Answer NOT_LISTED = Answer.of("not listed");

    /**
     * Lists a directory. Returns its entries by name; a name shown twice is a separate result, which is never right.
     */
    Map<String, Answer> list(long directory) throws IOException {
        Map<String, Answer> listed = new TreeMap<>();
        List<Long> retained = new ArrayList<>();
        fileSystem.list(directory, 0, true, (name, inode, type, cookie, attributes) -> {
            if (attributes != null) {
                retained.add(inode);
            }
            Answer shown = Answer.of("inode " + inode + " type " + Integer.toOctalString(type));
            if (listed.put(text(name), shown) != null) {
                listed.put(text(name), Answer.failed(new AssertionError(text(name) + " listed twice")));
            }
            return true;
        });
        retained.forEach(inode -> fileSystem.forget(inode, 1));
        return listed;
    }

    private static Answer retained(Attributes attributes) {
        int type = attributes.mode() & Modes.TYPE;
        Answer shown = shown(attributes);
        return new Answer(shown.text(), attributes.inode(), type, shown.size());
    }

    /** Without attributes that may be from another moment: a directory's link count. */
    private static Answer shown(Attributes attributes) {
        boolean isDirectory = Modes.isDirectory(attributes.mode());
        String text = "inode " + attributes.inode() + " mode " + Integer.toOctalString(attributes.mode()) + " owner "
                + attributes.uid() + ":" + attributes.gid() + (isDirectory ? "" : " links " + attributes.links());
        return Answer.of(text).withSize(isDirectory ? null : attributes.size());
    }

    private static byte[] bytes(String text) {
        return text.getBytes(ISO_8859_1);
    }

    private static String text(byte[] bytes) {
        return new String(bytes, ISO_8859_1);
    }
}
