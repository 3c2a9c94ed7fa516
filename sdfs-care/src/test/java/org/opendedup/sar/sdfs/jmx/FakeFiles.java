package org.opendedup.sar.sdfs.jmx;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.opendedup.sar.disk.DiskModel;
import org.opendedup.sar.disk.DiskStatus;
import org.opendedup.sar.restore.lookahead.StreamStatus;

/** Files of a volume that notes what is done with them. */
final class FakeFiles implements FileCare {
    final List<String> calls = new ArrayList<>();

    @Override
    public FilePicture picture(String path) {
        calls.add("explain " + path);
        return new FilePicture(
                1, 7, 3, 1, 0, 1, 1, 1, 100, 200, 1, 1, 1, new long[] {0, 0, 0, 7}, new long[] {0, 0, 0, 3});
    }

    @Override
    public List<StreamFigures> readers() {
        return List.of(StreamFigures.of(new StreamStatus(42, 10, 20, 10, 2, 1, 5, 2, 3, 4)));
    }

    @Override
    public DiskFigures disk() {
        return DiskFigures.of(new DiskStatus(DiskModel.HDD, 1, 1, 0, 0));
    }

    @Override
    public RestoreCacheFigures restoreCache() {
        return new RestoreCacheFigures("lookahead", 1, 4, 10, 3, 2, 5, 8, 9);
    }

    @Override
    public void restore(String path, Path destination) {
        calls.add("restore " + path + " to " + destination);
    }

    @Override
    public void defragment(String path) {
        calls.add("defragment " + path);
    }
}
