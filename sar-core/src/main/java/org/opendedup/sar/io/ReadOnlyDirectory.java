package org.opendedup.sar.io;

import java.io.IOException;
import java.util.List;
import java.util.Optional;

/** A directory in which nothing is made or changed: each attempt fails. Calls that only read are passed on. */
public final class ReadOnlyDirectory implements Directory {
    private final Directory directory;

    public ReadOnlyDirectory(Directory directory) {
        this.directory = directory;
    }

    private IOException refusal(String name) {
        return new IOException(directory + " is open for reading only: " + name + " is not changed");
    }

    @Override
    public Output create(String name) throws IOException {
        throw refusal(name);
    }

    @Override
    public Input open(String name) throws IOException {
        return directory.open(name);
    }

    @Override
    public Input openLasting(String name) throws IOException {
        return directory.openLasting(name);
    }

    @Override
    public boolean isCopy(String name) throws IOException {
        return directory.isCopy(name);
    }

    @Override
    public Optional<RequestCost> requestCost() {
        return directory.requestCost();
    }

    @Override
    public boolean exists(String name) throws IOException {
        return directory.exists(name);
    }

    @Override
    public long length(String name) throws IOException {
        return directory.length(name);
    }

    @Override
    public void rename(String from, String to) throws IOException {
        throw refusal(from);
    }

    @Override
    public void delete(String name) throws IOException {
        throw refusal(name);
    }

    @Override
    public List<String> list() throws IOException {
        return directory.list();
    }

    @Override
    public List<String> listFrom(String from) throws IOException {
        return directory.listFrom(from);
    }

    @Override
    public void trim(String name) throws IOException {
        throw refusal(name);
    }

    @Override
    public boolean release(String name, List<FileRange> ranges) throws IOException {
        throw refusal(name);
    }

    /** Assumed of a disk, as of most file systems: finding it out sets the time of the file. Not of an object. */
    @Override
    public boolean freesRanges(String name) {
        return !directory.answersAtOnce();
    }

    @Override
    public long allocatedBytes(String name) throws IOException {
        return directory.allocatedBytes(name);
    }

    /** Nothing waits to be synced. */
    @Override
    public void sync() {}

    @Override
    public long usableBytes() throws IOException {
        return directory.usableBytes();
    }

    @Override
    public String toString() {
        return directory.toString();
    }
}
