package org.opendedup.sar.sim.tddfs.trace;

import java.util.Arrays;
import java.util.List;

/**
 * A trace: the files that exist before its first request, and its requests in their order.
 *
 * @param name name for reports
 * @param isSynthetic whether it was generated
 * @param sizes bytes of each file at the start, in the order of their creation, by the number of the file; 0 for a file
 *     that the trace creates later
 */
public record FileTrace(String name, boolean isSynthetic, long[] sizes, List<FileRequest> requests) {
    public FileTrace {
        sizes = sizes.clone();
        requests = List.copyOf(requests);
    }

    @Override
    public long[] sizes() {
        return sizes.clone();
    }

    /** Returns the bytes of all files at the start. */
    public long totalBytes() {
        return Arrays.stream(sizes).sum();
    }

    /** Returns the bytes of all requests. */
    public long requestBytes() {
        return requests.stream().mapToLong(FileRequest::length).sum();
    }

    /** Returns the share of reads among the requests, from 0 to 1. */
    public double readShare() {
        long reads = requests.stream()
                .filter(request -> request.kind() == FileRequest.Kind.READ)
                .count();
        return requests.isEmpty() ? 0 : (double) reads / requests.size();
    }
}
