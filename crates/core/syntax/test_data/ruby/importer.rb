# frozen_string_literal: true

require "json"
require_relative "../support/http_client"

# Imports of cloud inventories.
module Imports
  autoload :Legacy, "imports/legacy"

  VERSION = "1.2"
  DEFAULT_OPTIONS = { retries: 3, logger: Logger.new($stdout) }.freeze

  Error = Class.new(StandardError)

  # A machine as the cloud reports it.
  Machine = Struct.new(:id, :name) do
    def label
      "#{name} (#{id})"
    end
  end

  # Reads machines from AWS.
  #
  # One request per region.
  class AwsImporter < Base::Importer
    include Comparable
    include Retry::WithBackoff, Loggable
    extend ClassMethods
    prepend Instrumentation

    REGIONS = %w[us-east-1 eu-west-1].freeze

    attr_accessor :region, :machines
    attr_reader :client

    class << self
      # Builds one for each region.
      def for_all(*regions, **options, &block)
        regions.map { |region| new(region, **options) }
      end

      private

      def registry
        @registry ||= Registry.new
      end
    end

    def self.run(region)
      importer = AwsImporter.new(region)
      importer.import
    end

    def initialize(region, client: HttpClient.new("aws"), **options)
      super(options)
      @region = region
      @client = client
      @parser = Json::Parser.new(symbolize: true)
      @@count ||= 0
    end

    def import
      validate!
      response = client.get("/machines", region: @region)
      @machines = @parser.parse(response.body).map(&:to_machine)
      machines.each do |machine|
        store(machine) if machine.valid?
      end
    rescue HttpClient::Timeout, Errno::ECONNRESET => error
      raise Error, error.message
    ensure
      log_summary
    end

    def <=>(other)
      region <=> other.region
    end

    def empty? = machines.none?

    alias size count

    protected

    def store(machine)
      Storage::Database.instance.insert(machine.id, machine)
    end

    private

    def validate!
      raise ArgumentError.new("no region") unless REGIONS.include?(region)
    end

    def log_summary
      logger&.info { "imported #{machines.size}" }
    end
  end
end
