package org.opendedup.sar.sdfs.cli.control;

import java.util.HashMap;
import java.util.Map;
import org.opendedup.sar.sdfs.cli.control.ControlServer.Handler;
import org.opendedup.sar.sdfs.cli.report.CareJobs;
import org.opendedup.sar.sdfs.jmx.ChunkFigures;

/** What answers the commands that each open volume has, with and without files. */
public final class CareHandlers {
    private CareHandlers() {}

    /** Returns the handlers by command; others can be added. */
    public static Map<String, Handler> of(CareJobs jobs, BackupTargets backups, ChunkFigures.Search chunks) {
        Map<String, Handler> handlers = new HashMap<>();
        handlers.put(GcControl.COMMAND, new GcControl(jobs.collections(), jobs.collectionTimes())::answer);
        handlers.put(ScrubControl.COMMAND, new ScrubControl(jobs.scrubs(), jobs.scrubTimes())::answer);
        handlers.put(HealControl.COMMAND, new HealControl(jobs.heals())::answer);
        handlers.put(CheckControl.COMMAND, new CheckControl(jobs.checks())::answer);
        handlers.put(BackupControl.COMMAND, new BackupControl(jobs.backups(), backups)::answer);
        var search = new ChunkControl(chunks);
        handlers.put(ChunkControl.COMMAND, (arguments, caller) -> search.answer(arguments));
        return handlers;
    }
}
