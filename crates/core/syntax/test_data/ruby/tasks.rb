require "set"
require "imports/aws_importer"

$queue = Queue.new
settings = Settings.load("tasks.yml")

# Opened again to add what the tasks need.
class Imports::AwsImporter
  def dry_run?
    ENV.fetch("DRY_RUN", nil) == "1"
  end
end

class Scheduler
  attr_writer :clock

  Entry = Data.define(:name, :task)

  def initialize(clock = Time)
    @clock = clock
    @entries = Set.new
    @lock = Mutex.new
  end

  def schedule(name, every:, &task)
    @lock.synchronize { @entries << Entry.new(name, task) }
    self
  end

  def run_due(now = @clock.now)
    due, @entries = @entries.partition { |entry| entry.due?(now) }
    due.each { |entry| run(entry) }
    Imports::AwsImporter.run("eu-west-1")
  end

  private def run(entry)
    entry.task.call
  rescue Imports::Error
    retry_later(entry)
  end

  def Scheduler.default
    @default ||= new
  end

  private

  def retry_later(entry)
    $queue.push(entry)
    yield entry if block_given?
  end
end

def report(entries, io = $stdout)
  io.puts(entries.map(&:name).join(", "))
end

def summarize(groups, limit: 3, *rest, **options, &format)
  (first, *others), count = groups.split
  for region in first.regions do region.refresh end
  others.each do |name, (host, port)|
    host.ping(port.to_i)
  end
  label = ->(machine, style = nil) { machine.describe(style.mode) }
  case count.state
  in {total:, owner: Owner => owner, region: place}
    total.round + owner.id + place.id
  in [head, *tail]
    head.join(tail.first)
  end
rescue Imports::Error => failure
  failure.report(format)
end

scheduler = Scheduler.new
scheduler.schedule("aws", every: 60) do
  importer = Imports::AwsImporter.new("us-east-1")
  importer.import unless importer.dry_run?
  report(importer.machines)
end
