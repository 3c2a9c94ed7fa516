package org.opendedup.sar.hdfs;

import java.io.EOFException;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.BlockLocation;
import org.apache.hadoop.fs.CreateFlag;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileContext;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Options;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RemoteIterator;
import org.apache.hadoop.hdfs.client.HdfsDataOutputStream;
import org.apache.hadoop.hdfs.client.HdfsDataOutputStream.SyncFlag;
import org.apache.hadoop.ipc.RemoteException;
import org.apache.hadoop.security.AccessControlException;
import org.opendedup.sar.common.Answer;
import org.opendedup.sar.common.NoSpaceException;
import org.opendedup.sar.io.Directory;
import org.opendedup.sar.io.Input;
import org.opendedup.sar.io.Output;
import org.opendedup.sar.io.UnavailableException;

/**
 * A folder of HDFS. A change of names is durable when it returns: the NameNode has written it to its log. The bytes of
 * a file are on the disks of the DataNodes after {@code hsync}. A file has one name, so {@link #link} renames it.
 */
final class HdfsDirectory implements Directory {
    private final FileContext files;
    private final Path root;

    private HdfsDirectory(FileContext files, Path root) {
        this.files = files;
        this.root = root;
    }

    /**
     * Opens a folder.
     *
     * @throws NoSuchFileException if there is none: a missing location is never made silently
     */
    static HdfsDirectory open(URI address, Configuration configuration) throws IOException {
        URI folder = address.getPath().isEmpty() ? address.resolve("/") : address;
        HdfsDirectory directory = call(
                folder.toString(),
                () -> new HdfsDirectory(FileContext.getFileContext(folder, configuration), new Path(folder)));
        if (!call(
                folder.toString(),
                () -> directory.files.getFileStatus(directory.root).isDirectory())) {
            throw new NoSuchFileException(folder.toString(), null, "it is a file");
        }
        return directory;
    }

    /** Makes a call; its failures are those of {@link java.nio.file} and {@link UnavailableException}. */
    private static <T> T call(String place, Answer<T> call) throws IOException {
        Thread thread = Thread.currentThread();
        ClassLoader before = thread.getContextClassLoader();
        // Hadoop looks there for classes that its settings name, and they are not on the class path of the program.
        thread.setContextClassLoader(HdfsDirectory.class.getClassLoader());
        try {
            return call.get();
        } catch (IOException e) {
            throw translated(place, e instanceof RemoteException remote ? remote.unwrapRemoteException() : e);
        } finally {
            thread.setContextClassLoader(before);
        }
    }

    private static IOException translated(String place, IOException failure) {
        IOException known;
        if (failure instanceof FileNotFoundException) {
            known = new NoSuchFileException(place);
        } else if (failure instanceof org.apache.hadoop.fs.FileAlreadyExistsException) {
            known = new FileAlreadyExistsException(place);
        } else if (failure instanceof AccessControlException) {
            known = new AccessDeniedException(place, null, failure.getMessage());
        } else if (failure.getClass().getSimpleName().contains("QuotaExceeded")) {
            known = new NoSpaceException(place + ": " + failure.getMessage());
        } else if (failure instanceof EOFException && isOfFile(failure)) {
            return failure;
        } else {
            // No answer, a NameNode that starts or is on standby, no DataNode that has the block: later it may.
            return new UnavailableException(place + ": " + failure.getMessage(), failure);
        }
        known.initCause(failure);
        return known;
    }

    private static boolean isOfFile(IOException failure) {
        String message = String.valueOf(failure.getMessage());
        return message.startsWith("Cannot seek after EOF") || message.contains("End of file reached");
    }

    private Path path(String name) {
        return new Path(root, name);
    }

    private String place(String name) {
        return this + "/" + name;
    }

    @Override
    public Output create(String name) throws IOException {
        FSDataOutputStream made = call(
                place(name),
                () -> files.create(path(name), EnumSet.of(CreateFlag.CREATE), Options.CreateOpts.createParent()));
        return new HdfsOutput(made, place(name));
    }

    /** A file that is written. */
    private static final class HdfsOutput implements Output {
        private final FSDataOutputStream file;
        private final String place;

        HdfsOutput(FSDataOutputStream file, String place) {
            this.file = file;
            this.place = place;
        }

        @Override
        public long append(ByteBuffer source) throws IOException {
            long start = file.getPos();
            byte[] bytes = new byte[source.remaining()];
            source.get(bytes);
            call(place, () -> {
                file.write(bytes);
                return place;
            });
            return start;
        }

        @Override
        public long position() {
            return file.getPos();
        }

        @Override
        public void force() throws IOException {
            call(place, () -> {
                if (file instanceof HdfsDataOutputStream hdfs) {
                    hdfs.hsync(EnumSet.of(SyncFlag.UPDATE_LENGTH));
                } else {
                    file.hsync();
                }
                return place;
            });
        }

        @Override
        public void close() throws IOException {
            call(place, () -> {
                file.close();
                return place;
            });
        }
    }

    @Override
    public Input open(String name) throws IOException {
        long length = length(name);
        FSDataInputStream file = call(place(name), () -> files.open(path(name)));
        return new HdfsInput(this, name, file, length);
    }

    /** A file that is read; it does not grow. */
    private record HdfsInput(HdfsDirectory directory, String name, FSDataInputStream file, long length)
            implements Input {
        @Override
        public void readFully(long offset, ByteBuffer target) throws IOException {
            String place = directory.place(name);
            if (offset + target.remaining() > length) {
                throw new EOFException(place + " ends at byte " + length);
            }
            byte[] bytes = new byte[target.remaining()];
            try {
                call(place, () -> {
                    file.readFully(offset, bytes);
                    return place;
                });
            } catch (UnavailableException e) {
                if (directory.isDamaged(name, offset, bytes.length)) {
                    throw new IOException("each copy of a block is damaged: " + e.getMessage(), e.getCause());
                }
                throw e;
            }
            target.put(bytes);
        }

        @Override
        public void close() throws IOException {
            file.close();
        }
    }

    /**
     * Returns whether a range has a block of which the NameNode knows all copies, and each is damaged. A block of which
     * it lacks some is not damaged: a DataNode that has one may come back.
     */
    private boolean isDamaged(String name, long offset, long length) throws IOException {
        return call(place(name), () -> {
            int copies = files.getFileStatus(path(name)).getReplication();
            for (BlockLocation block : files.getFileBlockLocations(path(name), offset, length)) {
                // A NameNode calls a block damaged if all copies are that it knows now.
                if (block.isCorrupt() && block.getHosts().length >= copies) {
                    return true;
                }
            }
            return false;
        });
    }

    @Override
    public boolean exists(String name) throws IOException {
        return call(place(name), () -> files.util().exists(path(name)));
    }

    @Override
    public long length(String name) throws IOException {
        return call(place(name), () -> files.getFileStatus(path(name)).getLen());
    }

    @Override
    public void rename(String from, String to) throws IOException {
        move(from, to, Options.Rename.OVERWRITE);
    }

    @Override
    public void link(String name, String further) throws IOException {
        move(name, further, Options.Rename.NONE);
    }

    private void move(String from, String to, Options.Rename how) throws IOException {
        call(place(to), () -> {
            files.mkdir(path(to).getParent(), FileContext.DIR_DEFAULT_PERM, true);
            files.rename(path(from), path(to), how);
            return to;
        });
    }

    @Override
    public void delete(String name) throws IOException {
        if (!call(place(name), () -> files.delete(path(name), false))) {
            throw new NoSuchFileException(place(name));
        }
    }

    @Override
    public List<String> list() throws IOException {
        List<String> names = new ArrayList<>();
        call(toString(), () -> {
            String begin = root.toUri().getPath().replaceFirst("/*$", "/");
            RemoteIterator<? extends FileStatus> all = files.util().listFiles(root, true);
            while (all.hasNext()) {
                names.add(all.next().getPath().toUri().getPath().substring(begin.length()));
            }
            return names;
        });
        Collections.sort(names);
        return names;
    }

    @Override
    public Collection<String> entries(String folder) throws IOException {
        List<String> names = new ArrayList<>();
        try {
            call(place(folder), () -> {
                RemoteIterator<FileStatus> entries = files.listStatus(folder.isEmpty() ? root : path(folder));
                while (entries.hasNext()) {
                    names.add(entries.next().getPath().getName());
                }
                return names;
            });
        } catch (NoSuchFileException e) {
            if (folder.isEmpty()) {
                throw e;
            }
        }
        return names;
    }

    @Override
    public void sync() {}

    @Override
    public long usableBytes() throws IOException {
        return call(
                toString(), () -> files.getDefaultFileSystem().getFsStatus(root).getRemaining());
    }

    @Override
    public String toString() {
        return root.toString();
    }
}
